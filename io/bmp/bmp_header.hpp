// The headers, masks and palette of a BMP file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/image.hpp"
#include "io/byte_file.hpp"
#include "io/metadata.hpp"

namespace sepconv {

struct BmpHeader {
  enum Compression : std::uint32_t { plain = 0, rle8 = 1, rle4 = 2, bit_fields = 3, jpeg = 4, png = 5 };
  using Colour = std::array<std::uint8_t, 3>;  ///< red, green, blue

  Extent extent;
  bool top_down = false;   ///< the top row is stored first, not last
  std::uint32_t bits = 0;  ///< per pixel
  std::uint32_t compression = plain;
  std::int64_t pixels_offset = 0;
  std::vector<Colour> palette;           ///< for up to 8 bits, else empty
  bool has_colour = true;                ///< false for a grey palette, which is read as one channel
  std::array<std::uint32_t, 4> masks{};  ///< red, green, blue, alpha; for more than 8 bits; 0: no alpha
  std::optional<Resolution> resolution;
  std::int64_t profile_offset = 0;
  std::int64_t profile_bytes = 0;
  bool linked_profile = false;  ///< the ICC profile is in another file

  bool has_runs() const noexcept { return compression == rle8 || compression == rle4; }
  std::int64_t stored_row_bytes() const noexcept {
    return round_up(ceil_div(extent.cols * static_cast<std::int64_t>(bits), 8), 4);
  }
  ImageSpec spec() const noexcept { return {extent, !has_colour ? 1 : masks[3] != 0 ? 4 : 3, PixelType::u8}; }
};

/// Throws IoError for a damaged header, an unsupported kind, and a file shorter than its header claims.
BmpHeader read_bmp_header(const InputFile& file);

}  // namespace sepconv
