// Texts of variants of a stage. Private to pipeline/stages.
#pragma once

#include <string>
#include <string_view>

namespace sepconv {

/// The text with the suffix, or without it if it has it: two transposes restore a stage. A text with a suffix
/// cannot be parsed.
inline std::string toggle_suffix(std::string text, std::string_view suffix) {
  if (text.ends_with(suffix)) return text.substr(0, text.size() - suffix.size());
  return text += suffix;
}

}  // namespace sepconv
