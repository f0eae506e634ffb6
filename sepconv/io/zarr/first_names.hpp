// Names in a sentence. Private to this folder.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "sepconv/core/printable.hpp"

namespace sepconv {

/// "a, b and 5 more", of names that may hold anything.
inline std::string first_names(std::vector<std::string> names) {
  constexpr std::size_t kNamed = 12;
  const std::size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
  names.resize(names.size() - more);
  for (std::string& name : names) name = printable(name);
  return fmt::format("{}{}", fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace sepconv
