// What can stand at the end of an unfinished command line, and the scripts by which shells ask for it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli11.hpp"

namespace sepconv::app {

struct Completion {
  enum class Kind : std::uint8_t {
    words,        ///< those below
    files,        ///< names of files
    value_files,  ///< the same after the last '=' of the word
    folders,
  };
  struct Word {
    std::string text, help;
  };
  Kind kind = Kind::words;
  std::vector<Word> words{};
};

/// Completes the last of `words`, which stand on the line after the program's name, with what the program has
/// declared: commands and options by their names, values of options and arguments by their type names
/// (option_values.hpp), stages and their keys.
Completion complete(const CLI::App& program, std::span<const std::string> words);

/// As completion scripts read it: a line for the kind, then "TEXT -- HELP" for each word.
std::string to_lines(const Completion& completion);

/// For bash, zsh or fish. It calls `sepconv completion SHELL -- WORD...`.
std::string completion_script(const std::string& shell);

}  // namespace sepconv::app
