// Deflate encoder for the bytes of an image after a predictor. It does not search for strings: the bytes are
// mostly noise, in which a search finds little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/deflate/block_kernels.hpp"

namespace sepconv::deflate {

/// Encodes bytes by their frequencies, and matches with the previous pixel and the row above. Not
/// thread-safe.
class RasterCoder {
 public:
  /// Writes a zlib stream (RFC 1950) to `out`, which has max_bytes(in.size()); returns its size. It depends
  /// only on the bytes and the raster.
  std::int64_t encode(std::span<const std::byte> in, MatchDistances raster, std::span<std::byte> out);

  /// Writes a gzip member (RFC 1952) in the same way.
  std::int64_t encode_gzip(std::span<const std::byte> in, MatchDistances raster, std::span<std::byte> out);

  /// Encodes a part of a stream, without kZlibHeader and checksum: appends the blocks of `in`, whose matches
  /// lie within `in`. `is_end`: these are the last blocks. Requires max_bytes(in.size()) of space in the
  /// sink.
  void put(std::span<const std::byte> in, MatchDistances raster, bool is_end, BitSink& sink);

  static std::int64_t max_bytes(std::int64_t bytes) noexcept;

 private:
  struct Block;
  void put_block(std::span<const std::byte> in, MatchDistances raster, const Block& block, BitSink& sink);

  std::vector<Match> matches_;
};

}  // namespace sepconv::deflate
