// Blocks of images to zlib streams.
#pragma once

#include <libdeflate.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/deflate/raster_coder.hpp"

namespace sepconv::deflate {

/// Besides libdeflate's levels, 1 to 12.
inline constexpr int kAutomatic =
    0;  ///< a look at each block chooses: where a search of a sample gains, all of it is searched
inline constexpr int kFast = -1;  ///< never a search
inline constexpr int kMinLevel = 1, kBestLevel = 12;
inline constexpr std::size_t kMaxSample = 16384;  ///< bytes of a block that such a look takes

inline constexpr int kSampleLevel = 1, kUsualLevel = 6;  ///< of the look's quick search, and of what follows

struct FreeSearch {
  void operator()(libdeflate_compressor* compressor) const noexcept {
    libdeflate_free_compressor(compressor);
  }
};
/// A search of libdeflate's.
using Search = std::unique_ptr<libdeflate_compressor, FreeSearch>;
/// Throws OutOfMemory.
Search make_search(int level);

/// Not thread-safe: one per worker.
class Deflater {
 public:
  /// Throws OutOfMemory.
  explicit Deflater(int level);

  /// A zlib stream at the beginning of `out`, which has max_bytes(in.size()); returns its size. It depends on
  /// the bytes, the raster and the level alone.
  std::int64_t encode(std::span<const std::byte> in, Raster raster, std::span<std::byte> out);

  static std::int64_t max_bytes(std::int64_t bytes) noexcept;
  /// Upper bound of what one holds.
  static std::int64_t memory_bytes(int level) noexcept;

 private:
  Search* look(std::span<const std::byte> in, Raster raster, std::span<std::byte> out);

  RasterCoder coder_;
  Search of_sample_, quick_, thorough_;
  std::array<std::byte, kMaxSample> sample_;
  int level_;
};

}  // namespace sepconv::deflate
