// `sepconv bench` is a program of its own, sepconv-bench, which may be absent.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace sepconv::app {

/// The command line of sepconv-bench for `bench ...`, `help bench ...`, and the completion of either; nullopt
/// for all other command lines. `words` includes the program's name.
std::optional<std::vector<std::string>> bench_arguments(std::vector<std::string> words);

/// Replaces this process by the sepconv-bench of the program's folder, else by that in PATH. Without one,
/// prints an error and returns the exit code.
int execute_bench(const std::vector<std::string>& arguments);

}  // namespace sepconv::app
