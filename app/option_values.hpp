// Values of options, declared once for validation, help and completion. A wrong value is reported in one
// short sentence.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "cli11.hpp"
#include "core/printable.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv::app {

/// Type names of option values. Help prints them; completion interprets them.
constexpr const char* kFileType = "FILE";
constexpr const char* kFolderType = "DIR";
constexpr const char* kCommandType = "COMMAND";                 ///< the name of a command
constexpr const char* kStageType = "STAGE";                     ///< the name of a stage
constexpr const char* kStageTextType = "NAME[:KEY=VALUE,...]";  ///< a stage with its keys
/// Separates the choices in a type name. Text after a '[' is for help only.
constexpr char kWordSeparator = '|';

/// The names of the pixel types.
const std::vector<std::string>& type_names();

/// For Option::transform(): accepts a whole number in [min_value, max_value]. The error message contains the
/// range.
CLI::Validator whole_number(std::int64_t min_value, std::int64_t max_value);
/// Likewise accepts a finite number of at least `min_value`.
CLI::Validator finite_number(double min_value = std::numeric_limits<double>::lowest());

/// Likewise accepts a permutation that parse_permutation() accepts.
CLI::Validator permutation_text();

/// Restricts an option to these values, which help and completion show.
CLI::Option* add_choices(CLI::Option* option, const std::vector<std::string>& choices);

/// Adds a file that is read or written at offsets. Refuses "-", because a pipe has no offsets.
CLI::Option* add_image_option(CLI::App& command, const std::string& name, std::filesystem::path& path,
                              const std::string& help);

}  // namespace sepconv::app
