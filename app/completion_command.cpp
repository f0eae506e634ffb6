// sepconv completion SHELL: prints a script that completes commands, options, stages, keys and files.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "commands.hpp"
#include "completion_scripts.hpp"
#include "console.hpp"
#include "sepconv/pipeline/chain.hpp"

namespace sepconv::app {

namespace {

/// What the program has declared, so that completion never falls behind.
CompletionTable table_of(const CLI::App& program) {
  CompletionTable table;
  for (const CLI::App* command : program.get_subcommands([](const CLI::App*) { return true; })) {
    CompletionTable::Command entry{command->get_name(), command->get_description(), {}, false};
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        entry.options.push_back({"--" + name, option->get_description(), option->get_expected_max() > 0});
      }
      entry.takes_stages = entry.takes_stages || option->get_name(true) == "STAGE";
    }
    table.commands.push_back(std::move(entry));
  }
  for (const StageEntry& stage : stage_table()) {
    table.stages.push_back({stage.name, stage.help, {}});
    for (const StageEntry::Key& key : stage.keys) table.stages.back().keys.push_back(key.name);
  }
  return table;
}

std::string script_for(const std::string& shell, const CompletionTable& table) {
  if (shell == "bash") return bash_completion(table);
  return shell == "zsh" ? zsh_completion(table) : fish_completion(table);
}

}  // namespace

void add_completion_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("completion", "Print a completion script for a shell.");
  const auto shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("NAME");
  command->footer("Example:  source <(sepconv completion bash)");
  command->callback([&program, &context, shell] {
    context.action = [&program, shell] {
      print_lines(script_for(*shell, table_of(program)));
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
