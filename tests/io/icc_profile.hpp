// A minimal ICC profile: a header (ICC.1, 7.2), no tags, then filler bytes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "png_bytes.hpp"

namespace sepconv {

/// `colours` is the colour space signature, four letters such as "RGB "; `bytes` is at least 132.
inline std::vector<std::byte> icc_profile(std::string_view colours, std::uint32_t bytes = 132) {
  std::string text(bytes, '\0');
  const auto put = [&](std::size_t at, std::string_view part) { text.replace(at, part.size(), part); };
  put(0, png_bytes::big32(bytes));
  put(8, "\x04\x20");
  put(12, "mntr");
  put(16, colours);
  put(20, "XYZ ");
  put(36, "acsp");
  put(68, png_bytes::big32(0xF6D6) + png_bytes::big32(0x10000) + png_bytes::big32(0xD32D));
  for (std::size_t at = 132; at < bytes; ++at) text[at] = static_cast<char>(at * at);
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

}  // namespace sepconv
