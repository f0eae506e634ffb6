// Sizes as sentences name them: 2894K, 16M.
#pragma once

#include <cstdint>
#include <string>

namespace sepconv::test {

struct NamedSize {
  std::int64_t bytes = 0, unit = 1;
};

/// The first number behind `words` in `text`, which ends with K or M.
inline NamedSize named_size(const std::string& text, const std::string& words) {
  std::size_t read = 0;
  const std::string from = text.substr(text.find(words) + words.size());
  const std::int64_t number = std::stoll(from, &read);
  const std::int64_t unit = from.at(read) == 'M' ? std::int64_t{1} << 20 : std::int64_t{1} << 10;
  return {number * unit, unit};
}

}  // namespace sepconv::test
