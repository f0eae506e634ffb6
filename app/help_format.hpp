// The text of --help and of sepconv help.
#pragma once

#include <string>

#include "cli11.hpp"

namespace sepconv::app {

/// Groups the options of all commands and formats --help at 100 columns. It shows the sentences of an option
/// that fit on two lines, and only the names of stages.
void set_help_format(CLI::App& program);
/// The command's full help, with one line for each stage. `name` is the command as typed.
std::string long_help(const CLI::App& command, const std::string& name);

}  // namespace sepconv::app
