// What a word that is not known was meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// The word of `known` that begins so, or else that with the smallest edit distance from `word`, when it is near
/// enough to be what was meant.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace sepconv
