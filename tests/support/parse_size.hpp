// Sizes in messages: 2894K, 16M.
#pragma once

#include <cstdint>
#include <string>

namespace sepconv::test {

struct ParsedSize {
  std::int64_t bytes = 0, unit = 1;
};

/// The size, ending with K or M, that follows `prefix` in `text`.
inline ParsedSize parse_size_after(const std::string& text, const std::string& prefix) {
  std::size_t read = 0;
  const std::string remainder = text.substr(text.find(prefix) + prefix.size());
  const std::int64_t number = std::stoll(remainder, &read);
  const std::int64_t unit = remainder.at(read) == 'M' ? std::int64_t{1} << 20 : std::int64_t{1} << 10;
  return {number * unit, unit};
}

}  // namespace sepconv::test
