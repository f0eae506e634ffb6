#include "pipeline/stages/spelling_suggestion.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace sepconv {

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  // Levenshtein distance, one row of the table at a time.
  const auto distance = [word](std::string_view other) {
    std::vector<std::size_t> row(other.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= other.size(); ++j) {
        const std::size_t substituted = diagonal + (word[i - 1] == other[j - 1] ? 0 : 1);
        diagonal = std::exchange(row[j], std::min({substituted, row[j] + 1, row[j - 1] + 1}));
      }
    }
    return row.back();
  };
  if (known.empty() || word.empty() || word.size() > 64) return std::nullopt;
  const auto prefix_match =
      std::ranges::find_if(known, [word](const std::string& name) { return name.starts_with(word); });
  if (prefix_match != known.end()) return *prefix_match;
  const auto best = std::ranges::min_element(known, {}, distance);
  if (distance(*best) > std::max<std::size_t>(2, word.size() / 2)) return std::nullopt;
  return *best;
}

}  // namespace sepconv
