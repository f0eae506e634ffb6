#include "io/join_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/printable.hpp"
#include "io/foreign_json.hpp"

namespace sepconv {

std::string join_names(std::vector<std::string> names) {
  constexpr std::size_t kMaxNames = 12;
  const std::size_t omitted = names.size() > kMaxNames ? names.size() - kMaxNames : 0;
  names.resize(names.size() - omitted);
  for (std::string& name : names) name = printable(name);
  return fmt::format("{}{}", fmt::join(names, ", "), omitted > 0 ? fmt::format(" and {} more", omitted) : "");
}

std::vector<std::string> member_names(const std::string& object) {
  std::vector<std::string> names;
  const auto members = parse_ordered(object);
  for (const auto& [name, value] : members.items()) names.push_back(name);
  return names;
}

}  // namespace sepconv
