#include "io/sample_type.hpp"

#include <fmt/format.h>

namespace sepconv {

std::string name_of(SampleType type) {
  constexpr std::string_view kLetters[] = {"bool", "u", "i", "f", "complex"};
  const std::string_view letters = kLetters[static_cast<std::size_t>(type.kind)];
  return type.kind == SampleType::Kind::boolean ? std::string(letters)
                                                : fmt::format("{}{}", letters, type.bits);
}

std::string describe(SampleType type) {
  if (type.is_pixels()) return name_of(type);
  return fmt::format("{}, computed as {}{}", name_of(type), type.is_complex() ? "two channels of " : "",
                     name_of(type.pixels()));
}

}  // namespace sepconv
