// How a file is laid out, for those who make another like it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "sepconv/core/geometry.hpp"

namespace sepconv {

enum class Compression : std::uint8_t { none, lzw, deflate, zstd, jpeg, packbits };
std::string_view name_of(Compression compression) noexcept;
std::optional<Compression> parse_compression(std::string_view name) noexcept;

struct FileLayout {
  bool tiled = false;
  Extent tile{512, 512};            ///< tile size, when tiled
  std::int64_t rows_per_strip = 0;  ///< when not tiled; 0: chosen
  Compression compression = Compression::none;
  int level = 0;          ///< deflate, zstd: 0 is the codec's default; JPEG: quality, 0 is 90
  bool predictor = true;  ///< horizontal (integers) or floating-point predictor with lzw, deflate, zstd
  bool planar = false;    ///< channels in planes of their own instead of interleaved
};

}  // namespace sepconv
