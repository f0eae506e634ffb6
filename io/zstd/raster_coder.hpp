// The bytes of an image behind a predictor as frames of zstd, coded without a search for strings: they are
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

using deflate::Raster;

/// As a compression's level, besides libzstd's 1 to 22: never a search.
inline constexpr int kFast = deflate::kFast;

/// Codes bytes by their frequencies, and repeats of the pixel before and of the row above. Not thread-safe.
class RasterCoder {
 public:
  RasterCoder();

  /// A frame (RFC 8878) at the beginning of `out`, which has max_bytes(in.size()); returns its size. It
  /// depends on the bytes and the raster alone. `is_checked`: it ends with a checksum, by which decoders
  /// notice damage.
  std::int64_t encode(std::span<const std::byte> in, Raster raster, bool is_checked,
                      std::span<std::byte> out);

  static std::int64_t max_bytes(std::int64_t bytes) noexcept;
  /// Upper bound of what one holds besides itself.
  static std::int64_t memory_bytes() noexcept;

 private:
  struct Block;
  std::byte* put_block(std::span<const std::byte> in, Raster raster, const Block& block, std::byte* to);
  /// Into literals and sequences.
  std::span<const std::byte> split(std::span<const std::byte> in, Raster raster, const Block& block);

  std::vector<deflate::Match> repeats_;
  std::vector<Sequence> sequences_;
  std::vector<std::byte> literals_;  ///< of a block that has repeats
  SequenceCodes codes_;
};

}  // namespace sepconv::zstd
