// The text of --help and of sepconv help.
#pragma once

#include <string>

#include "cli11.hpp"

namespace sepconv::app {

/// Puts options of all commands into groups, and has --help print them at 100 columns: the sentences of an
/// option that fit on two lines, and the names of stages.
void set_help_format(CLI::App& program);
/// The command's help with all sentences, and a line for each stage. `name`: as it is typed.
std::string long_help(const CLI::App& command, const std::string& name);

}  // namespace sepconv::app
