// sepconv completion SHELL: prints a script that completes commands, options, stages, keys and files. That
// script calls it for the completions of a line.
#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "completion.hpp"
#include "console.hpp"
#include "option_values.hpp"
#include "text.hpp"

namespace sepconv::app {

void add_completion_command(CLI::App& program, Context& context) {
  struct CompletionRequest {
    std::string shell;
    std::vector<std::string> words;
  };
  CLI::App* command = program.add_subcommand("completion", "Print a completion script for a shell.");
  const auto request = std::make_shared<CompletionRequest>();
  add_choices(command->add_option("SHELL", request->shell, "whose script")->required(),
              {"bash", "zsh", "fish"});
  CLI::Option* words =
      command
          ->add_option(
              "WORD", request->words,
              "after --, what stands on the line after sepconv: says what can complete the last of them")
          ->type_name("TEXT");
  command->footer(examples({"source <(sepconv completion bash)"}));
  command->callback([&program, &context, request, words] {
    context.action = [&program, request, words] {
      print_lines(words->count() > 0 ? to_lines(complete(program, request->words))
                                     : completion_script(request->shell));
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
