// Completion of an unfinished command line, and the scripts that connect shells to it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "cli11.hpp"

namespace sepconv::app {

struct Completion {
  enum class Kind : std::uint8_t {
    words,        ///< the entries of `words`
    files,        ///< file names
    value_files,  ///< file names after the last '=' of the word
    folders,
  };
  struct Word {
    std::string text, help;
  };
  Kind kind = Kind::words;
  std::vector<Word> words{};
};

/// Completes the last of `words`, the command line without the program's name. Candidates are the declared
/// commands and options, the choices in the type names of options and arguments (option_values.hpp), and
/// stages with their keys.
Completion complete(const CLI::App& program, std::span<const std::string> words);

/// The format that completion scripts read: a line for the kind, then "TEXT -- HELP" for each word.
std::string to_lines(const Completion& completion);

/// The completion script for bash, zsh or fish. It calls `sepconv completion SHELL -- WORD...`.
std::string completion_script(const std::string& shell);

}  // namespace sepconv::app
