#include "sepconv/pipeline/stages/definition.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "sepconv/core/error.hpp"

namespace sepconv {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

template <class T>
bool parse_whole(std::string_view text, T& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

StageArgs::StageArgs(std::string_view text) {
  const std::size_t colon = text.find(':');
  stage_ = text.substr(0, colon);
  if (colon == std::string_view::npos) return;
  for (const std::string_view word : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      const std::string key(word.substr(0, equals));
      if (has(key))
        throw InvalidArgument(fmt::format("stage '{}' is given '{}' twice; keep one", stage_, key));
      pairs_.emplace_back(key, word.substr(equals + 1));
    } else if (!pairs_.empty()) {
      pairs_.back().second.append(",").append(word);
    } else {
      throw InvalidArgument(fmt::format("stage '{}' has '{}' where key=value is expected, as in {}:key=value",
                                        text, word, stage_));
    }
  }
}

const std::string* StageArgs::find(std::string_view key) const noexcept {
  const auto pair = std::ranges::find(pairs_, key, &std::pair<std::string, std::string>::first);
  return pair == pairs_.end() ? nullptr : &pair->second;
}

void StageArgs::fail(std::string_view key, std::string_view why) const {
  const std::string* value = find(key);
  if (value == nullptr) throw InvalidArgument(fmt::format("stage '{}' needs '{}': {}", stage_, key, why));
  throw InvalidArgument(fmt::format("stage '{}' cannot take {}={}: {}", stage_, key, *value, why));
}

std::string StageArgs::unread() const {
  const auto pair = std::ranges::find_if(
      pairs_, [this](const auto& given) { return std::ranges::find(read_, given.first) == read_.end(); });
  return pair == pairs_.end() ? "" : pair->first;
}

std::string StageArgs::text(std::string_view key) const {
  const std::string* value = find(key);
  if (value == nullptr || value->empty()) fail(key, "a value is needed");
  read_.emplace_back(key);
  return *value;
}

std::string StageArgs::text(std::string_view key, std::string_view fallback) const {
  return has(key) ? text(key) : std::string(fallback);
}

double StageArgs::number(std::string_view key) const {
  double value = 0;
  if (!parse_whole(text(key), value) || !std::isfinite(value)) fail(key, "a finite number is needed");
  return value;
}

double StageArgs::number(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

std::int64_t StageArgs::integer(std::string_view key) const {
  std::int64_t value = 0;
  if (!parse_whole(text(key), value)) fail(key, "a whole number is needed");
  return value;
}

std::int64_t StageArgs::integer(std::string_view key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

bool StageArgs::flag(std::string_view key) const { return choice(key, {"false", "true"}) == "true"; }

std::vector<double> StageArgs::numbers(std::string_view key) const {
  const std::string list = text(key);
  std::vector<double> values;
  for (const std::string_view word : split(list, ',')) {
    if (!parse_whole(word, values.emplace_back()) || !std::isfinite(values.back())) {
      fail(key, fmt::format("'{}' is not a finite number", word));
    }
  }
  return values;
}

std::string StageArgs::choice(std::string_view key, const std::vector<std::string_view>& choices) const {
  const std::string value = text(key, choices.front());
  if (std::ranges::find(choices, value) == choices.end())
    fail(key, fmt::format("it is one of {}", fmt::join(choices, ", ")));
  return value;
}

Border StageArgs::border() const {
  Border border;
  border.mode =
      *parse_border_mode(choice("border", {"reflect101", "reflect", "replicate", "constant", "wrap"}));
  border.value = number("value", 0);
  if (has("value") && border.mode != BorderMode::constant) fail("value", "only border=constant has a value");
  return border;
}

std::vector<StageEntry::Key> convolving_keys(std::vector<StageEntry::Key> own) {
  own.push_back({"border",
                 "reflect101 (default: dcb|abcd|cba), reflect (cba|abcd|dcb), replicate, constant or wrap "
                 "(bcd|abcd|abc)"});
  own.push_back({"value", "what lies outside with border=constant (default 0)"});
  own.push_back({"flip", "true: convolution, the taps turned round (default false: correlation)"});
  return own;
}

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
  const auto begun =
      std::ranges::find_if(known, [word](const std::string& name) { return name.starts_with(word); });
  if (begun != known.end()) return *begun;
  const auto best = std::ranges::min_element(known, {}, distance);
  if (distance(*best) > std::max<std::size_t>(2, word.size() / 2)) return std::nullopt;
  return *best;
}

}  // namespace sepconv
