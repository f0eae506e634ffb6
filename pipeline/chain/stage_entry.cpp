#include "pipeline/chain/stage_entry.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace sepconv {

std::string KeyRange::text() const {
  if (std::isfinite(most)) return fmt::format("between {} and {}", least, most);
  if (!std::isfinite(least)) return "";
  return excludes_min ? fmt::format("greater than {}", least) : fmt::format("{} or more", least);
}

std::string_view name_of(StageKey::Type type) noexcept {
  constexpr std::string_view names[] = {"number", "integer", "flag",  "choice", "numbers",
                                        "path",   "size",    "image", "chain",  "text"};
  return names[static_cast<std::size_t>(type)];
}

std::string StageKey::help() const {
  std::vector<std::string> facts;
  const auto add = [&facts](std::string_view before, const std::string& fact) {
    if (!fact.empty()) facts.push_back(fmt::format("{}{}", before, fact));
  };
  add("", fmt::format("{}", fmt::join(choices, " ")));
  add("", unit);
  add("", range.text());
  add("default ", default_text);
  if (needed) facts.emplace_back("needed");
  add("only with ", only_with);
  add("not with ", not_with);
  return facts.empty() ? words : fmt::format("{} ({})", words, fmt::join(facts, "; "));
}

std::size_t find_outside_brackets(std::string_view text, std::size_t at, char end) {
  int depth = 0;
  for (std::size_t i = at; i < text.size(); ++i) {
    if (text[i] == '[' && (depth > 0 || (i > 0 && text[i - 1] == '='))) ++depth;
    if (text[i] == ']' && depth > 0) --depth;
    if (text[i] == end && depth == 0) return i;
  }
  return text.size();
}

std::vector<std::string> split_chain(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  std::vector<std::string> stages;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = find_outside_brackets(text, at, '|');
    std::string_view stage = text.substr(at, end - at);
    const std::size_t first = std::min(stage.find_first_not_of(kSpaces), stage.size());
    stages.emplace_back(stage.substr(first, stage.find_last_not_of(kSpaces) + 1 - first));
    at = end + 1;
  }
  return stages;
}

std::vector<std::string> split_subchain(std::string_view value) {
  if (value.starts_with('[') && value.ends_with(']')) value = value.substr(1, value.size() - 2);
  return split_chain(value);
}

StageText StageText::split(std::string_view text) {
  const std::size_t colon = text.find(':');
  StageText parts{std::string(text.substr(0, colon)), {}, {}};
  for (std::size_t at = colon; at < text.size();) {
    const std::size_t end = find_outside_brackets(text, at + 1, ',');
    const std::string_view token = text.substr(at + 1, end - at - 1);
    at = end;
    if (const std::size_t equals = token.find('='); equals != token.npos) {
      const std::string key(token.substr(0, equals));
      if (std::ranges::find(parts.pairs, key, [](const auto& pair) { return pair.first; }) !=
          parts.pairs.end())
        throw InvalidArgument(fmt::format("stage '{}' is given '{}' twice; keep one", parts.stage, key));
      parts.pairs.emplace_back(key, token.substr(equals + 1));
    } else if (!parts.pairs.empty()) {
      parts.pairs.back().second.append(",").append(token);
    } else {
      throw InvalidArgument(fmt::format("stage '{}' has '{}' where key=value is expected, as in {}:key=value",
                                        text, token, parts.stage));
    }
  }
  return parts;
}

}  // namespace sepconv
