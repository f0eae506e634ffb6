// Names of options. Errors of the library name an option by its C++ member, like PlanOptions::max_memory_bytes;
// the program and the Python package show its flag or keyword instead.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// An option, or a value of one.
struct OptionName {
  std::string_view member;     ///< in errors
  std::string_view flag;       ///< of the program
  std::string_view keyword;    ///< of the Python package
  bool fixed_by_plan = false;  ///< a stored plan contains it, so that it cannot be given with one
};

/// A name in older versions, which is still accepted. Empty: this interface has no such name.
struct FormerName {
  std::string_view flag, current_flag;
  std::string_view keyword, current_keyword;
};

const std::vector<OptionName>& option_names();
const std::vector<FormerName>& former_option_names();

/// A message in which each OptionName::member is replaced by the flag or keyword that `spelling` points to.
std::string with_option_names(std::string_view message, std::string_view OptionName::*spelling);

}  // namespace sepconv
