// The options of a result, each declared once. The flags of the program and their help, the keywords of the
// Python package, names in errors, the checks of formats and the manifest of a checkpoint follow from this
// table. A new option is a member of OutputOptions, a row here, and the code that uses it.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "pipeline/job/option_names.hpp"
#include "pipeline/job/output.hpp"

namespace sepconv {

using OutputMember =
    std::variant<bool OutputOptions::*, int OutputOptions::*, std::optional<bool> OutputOptions::*,
                 std::optional<int> OutputOptions::*, std::optional<Extent> OutputOptions::*,
                 std::vector<AxisPositions> OutputOptions::*, std::optional<Compression> OutputOptions::*>;

/// The outputs that an option is for.
enum class OptionScope {
  layout,   ///< formats with a layout
  tiff,     ///< TIFF only
  zarr,     ///< Zarr only
  file,     ///< all files
  picture,  ///< pixels of pictures
};

/// A member that determines the layout of the result. A checkpoint stores it under `name`.
struct OutputField {
  std::string_view name;
  OutputMember member;
  OptionScope scope;
};

using FlagMember = bool OutputOptions::*;

struct OutputOption {
  std::vector<OptionName> names;  ///< of the option, then of its values
  std::string_view help;
  std::vector<OutputField> fields;
  OptionScope scope;
  void (*parse)(OutputOptions& request, const std::string& text);  ///< throws InvalidArgument
  std::string_view value;  ///< its form, for help; "[=...]": without a value, "auto" is parsed
  std::string_view second_flag = "";
  bool is_choice = false;     ///< the value is one of the words between '|'
  FlagMember flag = nullptr;  ///< the member that an option without a value sets

  /// The C++ name of a field, or of the option if the field has none of its own.
  std::string name_of(const OutputField& field) const;
};

/// In the order of the program's help.
const std::vector<OutputOption>& output_option_table();

/// The C++ names of the options that are given and only apply to outputs of one of these scopes.
std::vector<std::string> given_options(const OutputOptions& request, const std::vector<OptionScope>& scopes);

}  // namespace sepconv
