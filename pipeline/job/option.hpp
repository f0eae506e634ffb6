// The options of a run, each declared once. The flags of the program and their help, the keywords of the
// Python package, names in errors, the checks of values and of formats, and the manifest of a checkpoint
// follow from these tables. A new option is a member of a struct of options, a row here, and the code that
// uses it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/error.hpp"
#include "pipeline/job/file_job.hpp"
#include "pipeline/job/option_names.hpp"

namespace sepconv {

/// What an option takes.
enum class ValueKind : std::uint8_t {
  text,
  number,   ///< floating point, or a word
  integer,  ///< in [min, max]
  choice,   ///< one of the words of Option::value between '|'
  flag,     ///< nothing
};

template <class Options>
struct Option {
  std::vector<OptionName> names;  ///< of the option, then of its values
  std::string_view help;
  /// Sets the option from a text, "" for a flag. Throws InvalidArgument with a message that goes on after
  /// the option's name. set_option() checks choices and integers before.
  void (*set)(Options& options, const std::string& text);
  ValueKind kind = ValueKind::flag;
  std::string_view value = "";  ///< its form, for help; "[=...]": without a value, "auto" is set
  std::int64_t min = 0, max = 0;
  std::string_view second_flag = "";
};

/// The outputs that an option is for.
enum class OptionScope {
  layout,   ///< formats with a layout
  tiff,     ///< TIFF only
  zarr,     ///< Zarr only
  file,     ///< all files
  picture,  ///< pixels of pictures
};

using OutputMember =
    std::variant<bool OutputOptions::*, int OutputOptions::*, std::optional<bool> OutputOptions::*,
                 std::optional<int> OutputOptions::*, std::optional<Extent> OutputOptions::*,
                 std::vector<AxisPositions> OutputOptions::*, std::optional<Compression> OutputOptions::*>;

/// A member that determines the layout of the result. A checkpoint stores it under `name`.
struct OutputField {
  std::string_view name;
  OutputMember member;
  OptionScope scope;
};

struct OutputOption : Option<OutputOptions> {
  std::vector<OutputField> fields;
  OptionScope scope;

  /// The C++ name of a field, or of the option if the field has none of its own.
  std::string name_of(const OutputField& field) const;
};

/// The tables, each in the order of the program's help.
const std::vector<Option<OpenOptions>>& open_option_table();
const std::vector<Option<PlanOptions>>& plan_option_table();
const std::vector<Option<MissingOptions>>& missing_option_table();
const std::vector<Option<FileOptions>>& file_option_table();
const std::vector<OutputOption>& output_option_table();

/// The C++ names of the options that are given and only apply to outputs of one of these scopes.
std::vector<std::string> given_options(const OutputOptions& request, const std::vector<OptionScope>& scopes);

/// The words of a choice.
std::vector<std::string> choices(std::string_view value);
/// Says what is wrong with a choice or integer; empty if nothing is, and for other kinds.
std::string wrong_value(ValueKind kind, std::string_view value, std::int64_t min, std::int64_t max,
                        const std::string& text);

/// work(), whose InvalidArgument gets the option's name.
template <class Work>
auto with_option_name(std::string_view name, const Work& work) {
  try {
    return work();
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(std::string(name) + " " + error.what());
  }
}

/// Sets an option. Throws InvalidArgument with `name` for a wrong text.
template <class Options>
void set_option(const Option<Options>& option, Options& options, std::string_view name,
                const std::string& text) {
  const std::string error = wrong_value(option.kind, option.value, option.min, option.max, text);
  if (!error.empty()) throw InvalidArgument(std::string(name) + ": " + error);
  with_option_name(name, [&] { option.set(options, text); });
}

}  // namespace sepconv
