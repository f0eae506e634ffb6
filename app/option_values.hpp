// What an option takes, said once for its check, its help and its completion. What is typed wrong is one
// short sentence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "cli11.hpp"

namespace sepconv::app {

/// Type names of options that help prints and completion knows.
constexpr const char* kFileType = "FILE";
constexpr const char* kFolderType = "DIR";
constexpr const char* kCommandType = "COMMAND";                 ///< the name of a command
constexpr const char* kStageType = "STAGE";                     ///< the name of a stage
constexpr const char* kStageTextType = "NAME[:KEY=VALUE,...]";  ///< a stage with its keys
/// Between the words that an option takes one of; what follows a '[' is for people only.
constexpr char kWordSeparator = '|';

constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxSlots = 64;

/// For pixel types.
const std::vector<std::string>& type_names();

/// For Option::transform(): a whole number in [least, greatest]; all else is refused by one sentence with
/// this range.
CLI::Validator whole_number(std::int64_t least, std::int64_t greatest);
/// Likewise a finite number of at least `least`.
CLI::Validator finite_number(double least = std::numeric_limits<double>::lowest());

/// Likewise what parse_permutation() takes.
CLI::Validator permutation_text();

/// What was typed, no longer than a sentence can carry.
std::string shortened(const std::string& text);

/// Lets an option take only these words, which help and completion then show.
CLI::Option* add_choices(CLI::Option* option, const std::vector<std::string>& words);

/// The name of a file that is read or written at offsets, so that a pipe will not do: "-" is refused.
CLI::Option* add_image_option(CLI::App& command, const std::string& name, std::filesystem::path& path,
                              const std::string& help);

}  // namespace sepconv::app
