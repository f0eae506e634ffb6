// Compresses blocks of images to zlib streams.
#pragma once

#include <libdeflate.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/deflate/raster_coder.hpp"

namespace sepconv::deflate {

/// Levels besides libdeflate's 1 to 12.
inline constexpr int kAutomatic = 0;  ///< searches a block if that makes a sample of it smaller
inline constexpr int kFast = -1;      ///< never searches for matches
inline constexpr int kMinLevel = 1, kBestLevel = 12;
inline constexpr std::size_t kMaxSample = 16384;  ///< maximum sample of a block in bytes

/// of a sample's quick search, and of the default search
inline constexpr int kSampleLevel = 1, kDefaultLevel = 6;

struct FreeCompressor {
  void operator()(libdeflate_compressor* compressor) const noexcept {
    libdeflate_free_compressor(compressor);
  }
};
/// A libdeflate compressor.
using Compressor = std::unique_ptr<libdeflate_compressor, FreeCompressor>;
/// Throws OutOfMemory.
Compressor make_compressor(int level);

/// Not thread-safe: one per worker.
class Deflater {
 public:
  /// Throws OutOfMemory.
  explicit Deflater(int level);

  /// Writes a zlib stream to `out`, which has max_bytes(in.size()); returns its size. It depends only on the
  /// bytes, the raster and the level.
  std::int64_t encode(std::span<const std::byte> in, MatchDistances raster, std::span<std::byte> out);

  static std::int64_t max_bytes(std::int64_t bytes) noexcept;
  /// Upper bound of a deflater's memory.
  static std::int64_t memory_bytes(int level) noexcept;

 private:
  Compressor* choose_search(std::span<const std::byte> in, MatchDistances raster, std::span<std::byte> out);

  RasterCoder coder_;
  Compressor sample_search_, quick_search_, main_search_;
  std::array<std::byte, kMaxSample> sample_;
  int level_;
};

}  // namespace sepconv::deflate
