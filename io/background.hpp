// The background colour of a picture with alpha in a file format without alpha.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace sepconv {

/// 8-bit red, green and blue.
struct Background {
  std::array<std::uint8_t, 3> rgb{255, 255, 255};
  bool is_grey() const noexcept { return rgb[0] == rgb[1] && rgb[1] == rgb[2]; }
  friend bool operator==(const Background&, const Background&) = default;
};

/// Parses "white", "black", "grey" or "255,128,0". Throws InvalidArgument.
Background parse_background(std::string_view text);

}  // namespace sepconv
