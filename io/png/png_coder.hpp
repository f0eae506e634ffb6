// Compresses the zlib stream of a PNG file in parts of several rows: without a search for strings, or with
// zlib's where drawings, text and labels have strings that repeat.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/deflate/raster_coder.hpp"

namespace sepconv {

/// Maximum level of `deflate` for a PNG. Levels 1 to 9 are zlib's; deflate::kAutomatic and deflate::kFast are
/// valid, too.
inline constexpr int kMaxPngLevel = 9;

/// Not thread-safe.
class PngCoder {
 public:
  /// `level`: deflate::kFast never searches. deflate::kAutomatic searches a part if that makes a sample of it
  /// a tenth smaller; it samples every eighth part and each part after one that was searched. Other levels
  /// always search. Parts have at most `max_bytes`. Throws OutOfMemory.
  PngCoder(int level, std::int64_t max_bytes);
  PngCoder(const PngCoder&) = delete;
  PngCoder& operator=(const PngCoder&) = delete;
  ~PngCoder();

  /// Compresses the next part, which is filtered. Returns bytes of the stream, valid until the next call.
  /// They depend only on the parts so far, `raster` and the level.
  std::span<const std::byte> code(std::span<const std::byte> part, deflate::MatchDistances raster,
                                  bool is_end);

  /// Upper bound of a coder's memory.
  static std::int64_t memory_bytes(std::int64_t max_bytes) noexcept;

 private:
  class Search;

  bool search_may_gain(std::span<const std::byte> part, deflate::MatchDistances raster);

  int level_;
  deflate::RasterCoder coder_;
  std::unique_ptr<Search> search_;  ///< null if it never searches
  std::vector<std::byte> coded_;
  deflate::BitSink sink_{};
  std::uint32_t adler_ = 1;      ///< of the parts so far
  std::int64_t part_index_ = 0;  ///< counts parts, for sampling
  bool search_gains_ = false;    ///< a search made the sample of the previous part smaller
};

}  // namespace sepconv
