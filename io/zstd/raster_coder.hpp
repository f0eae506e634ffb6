// zstd encoder for the bytes of an image after a predictor. It does not search for strings: the bytes are
// mostly noise, in which a search finds little.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/zstd/literal_code.hpp"
#include "core/zstd/sequences.hpp"
#include "io/deflate/block_kernels.hpp"
#include "io/deflate/deflater.hpp"

namespace sepconv::zstd {

using deflate::MatchDistances;

/// Compression level besides libzstd's 1 to 22: never searches for strings.
inline constexpr int kFast = deflate::kFast;

/// Encodes bytes by their frequencies, and matches with the previous pixel and the row above. Not
/// thread-safe.
class RasterCoder {
 public:
  RasterCoder();

  /// Writes a frame (RFC 8878) to `out`, which has max_bytes(in.size()); returns its size. It depends only on
  /// the bytes and the raster. `has_checksum`: ends with a checksum, by which decoders detect damage.
  std::int64_t encode(std::span<const std::byte> in, MatchDistances raster, bool has_checksum,
                      std::span<std::byte> out);

  static std::int64_t max_bytes(std::int64_t bytes) noexcept;
  /// Upper bound of an encoder's memory besides the object itself.
  static std::int64_t memory_bytes() noexcept;

 private:
  struct Block;
  std::byte* put_block(std::span<const std::byte> in, MatchDistances raster, const Block& block,
                       std::byte* to);
  /// Splits a block into literals, which are returned, and sequences.
  std::span<const std::byte> split(std::span<const std::byte> in, MatchDistances raster, const Block& block);

  std::vector<deflate::Match> matches_;
  std::vector<Sequence> sequences_;
  std::vector<std::byte> literals_;  ///< of a block that has matches
  SequenceCodes codes_;
};

}  // namespace sepconv::zstd
