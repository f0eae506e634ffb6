// What the programs sepconv and sepconv-bench have in common.
#pragma once

#include <functional>

#include "cli11.hpp"
#include "commands.hpp"

namespace sepconv::app {

/// Declares the commands, parses the command line and runs the chosen command. Returns the exit code of the
/// program. Must be called once, before any thread is started.
int run_program(int argc, char** argv, CLI::App& program,
                const std::function<void(CLI::App&, Context&)>& add_commands);

}  // namespace sepconv::app
