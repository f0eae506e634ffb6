// sepconv help [COMMAND...]: the full text of COMMAND --help.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "commands.hpp"
#include "console.hpp"
#include "core/error.hpp"
#include "help_format.hpp"
#include "option_values.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

std::string help_text(const CLI::App& program, const std::vector<std::string>& command_names) {
  const CLI::App* command = &program;
  std::string name = program.get_name();
  for (const std::string& command_name : command_names) {
    if (commands_of(*command).empty())
      throw InvalidArgument(fmt::format("{} has no commands of its own, such as '{}'; leave that out", name,
                                        shortened(command_name)));
    command = &find_command(*command, command_name);
    name += " " + command_name;
  }
  return long_help(*command, name);
}

}  // namespace

void add_help_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("help", "Say what a command does and which options it has.");
  const auto command_names = std::make_shared<std::vector<std::string>>();
  command->add_option("COMMAND", *command_names, "a command, and one of its own if it has some")
      ->type_name(kCommandType);
  command->footer(examples({"sepconv help run", "sepconv help bench gemm"}));
  command->callback([&program, &context, command_names] {
    context.action = [&program, command_names] {
      print_lines(help_text(program, *command_names));
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
