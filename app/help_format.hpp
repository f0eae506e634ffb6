// The text of --help and of sepconv help.
#pragma once

#include "cli11.hpp"

namespace sepconv::app {

/// Puts options of all commands into groups, and has their help printed at 100 columns: by --help the
/// sentences of an option that fit on two lines, and the names of stages.
void set_help_format(CLI::App& program);
/// All sentences, and a line for each stage.
void set_long_help(const CLI::App& command);

}  // namespace sepconv::app
