// The bytes of an image behind a predictor, coded without a search for strings: they are mostly noise, in
// which a search finds little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/deflate/block_kernels.hpp"

namespace sepconv::deflate {

/// Codes bytes by their frequencies, and repeats of the pixel before and of the row above. Not thread-safe.
class RasterCoder {
 public:
  /// A zlib stream (RFC 1950) at the beginning of `out`, which has max_bytes(in.size()); returns its size. It
  /// depends on the bytes and the raster alone.
  std::int64_t encode(std::span<const std::byte> in, Raster raster, std::span<std::byte> out);

  /// The same as a member of gzip (RFC 1952).
  std::int64_t encode_gzip(std::span<const std::byte> in, Raster raster, std::span<std::byte> out);

  /// The same in parts, without kZlibHeader and the checksum that make a stream of them: appends the blocks
  /// of `in`, whose repeats lie within it. `is_end`: none follow. Takes max_bytes(in.size()) of the sink's
  /// room.
  void put(std::span<const std::byte> in, Raster raster, bool is_end, BitSink& sink);

  static std::int64_t max_bytes(std::int64_t bytes) noexcept;

 private:
  struct Block;
  void put_block(std::span<const std::byte> in, Raster raster, const Block& block, BitSink& sink);

  std::vector<Match> repeats_;
};

}  // namespace sepconv::deflate
