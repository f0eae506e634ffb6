#include "bench_program.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "commands.hpp"
#include "console.hpp"

namespace sepconv::app {

std::optional<std::vector<std::string>> bench_arguments(std::vector<std::string> words) {
  // A line to complete follows `completion SHELL --`. Its last word is unfinished, even if it is "bench".
  const bool completes = words.size() > 3 && words[1] == "completion" && words[3] == "--";
  std::size_t at = completes ? 4 : 1;
  if (at < words.size() && words[at] == "help") ++at;
  if (at + (completes ? 1 : 0) >= words.size() || words[at] != "bench") return std::nullopt;
  words.erase(words.begin() + static_cast<std::ptrdiff_t>(at));
  return words;
}

int execute_bench(const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  execv((folder / "sepconv-bench").c_str(), pointers.data());
  const int error_in_folder = errno;
  execvp("sepconv-bench", pointers.data());
  const int error = error_in_folder == ENOENT ? errno : error_in_folder;
  if (error == ENOENT) {
    print_error(
        "sepconv-bench is neither in the folder of sepconv nor in PATH; install the package sepconv-bench, or build the "
        "target sepconv-bench");
  } else {
    print_error(
        fmt::format("sepconv-bench in {} cannot be started: {}; install the package sepconv-bench again",
                    error_in_folder == ENOENT ? "PATH" : folder.native(), std::strerror(error)));
  }
  return kFailed;
}

void add_bench_command(CLI::App& program, Context&) {
  // main() has executed sepconv-bench before the command line is parsed. This is its line in the help.
  program.add_subcommand("bench", "Measure rates and the limits of this machine (sepconv-bench).")
      ->prefix_command();
}

}  // namespace sepconv::app
