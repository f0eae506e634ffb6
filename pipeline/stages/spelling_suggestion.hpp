// Suggestions for misspelt words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// The first of `known` that begins with `word`, or else the one with the smallest edit distance, if that is
/// small enough.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace sepconv
