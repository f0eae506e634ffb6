// The zlib stream of a PNG file, in parts of some rows: coded without a search for strings, or with zlib's
// where drawings, text and labels make strings that repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/deflate/raster_coder.hpp"

namespace sepconv {

/// Levels of `deflate` that a PNG has besides deflate::kAutomatic and deflate::kFast: 1 to 9, zlib's.
inline constexpr int kMaxPngLevel = 9;

/// Not thread-safe.
class PngCoder {
 public:
  /// `level`: deflate::kFast never searches, deflate::kAutomatic where that makes a sample smaller by a
  /// tenth: of every eighth part, and of each behind one that was searched; others everywhere. Parts have at
  /// most `max_bytes`. Throws OutOfMemory.
  PngCoder(int level, std::int64_t max_bytes);
  PngCoder(const PngCoder&) = delete;
  PngCoder& operator=(const PngCoder&) = delete;
  ~PngCoder();

  /// The next part, filtered: bytes of the stream, good until the next call. They depend on all the parts so
  /// far, `raster` and the level alone.
  std::span<const std::byte> code(std::span<const std::byte> part, deflate::Raster raster, bool is_end);

  /// Upper bound of what one holds.
  static std::int64_t memory_bytes(std::int64_t max_bytes) noexcept;

 private:
  class Search;

  bool search_may_gain(std::span<const std::byte> part, deflate::Raster raster);

  int level_;
  deflate::RasterCoder coder_;
  std::unique_ptr<Search> search_;  ///< null: never
  std::vector<std::byte> coded_;
  deflate::BitSink sink_{};
  std::uint32_t adler_ = 1;  ///< of the parts so far
  std::int64_t part_ = 0;    ///< of the looks
  bool is_drawn_ = false;    ///< the part before, whose sample a search made smaller
};

}  // namespace sepconv
