#include "kernels/conv/border.hpp"

#include <cstddef>

namespace sepconv {
namespace {
constexpr std::string_view kNames[] = {"constant", "replicate", "reflect", "reflect101", "wrap"};
}

std::string_view name_of(BorderMode mode) noexcept { return kNames[static_cast<std::size_t>(mode)]; }

std::optional<BorderMode> parse_border_mode(std::string_view name) noexcept {
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    if (kNames[i] == name) return static_cast<BorderMode>(i);
  }
  return std::nullopt;
}

}  // namespace sepconv
