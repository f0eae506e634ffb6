// zlib streams to blocks of images.
#pragma once

#include <libdeflate.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "io/deflate/bit_source.hpp"
#include "io/deflate/decode_block.hpp"

namespace sepconv::deflate {

/// What a stream turned out to hold: as many bytes as there was room for, more of them and its checksum
/// holds, more than anybody wants, fewer, or nothing that makes sense.
enum class InflateStatus : std::uint8_t { whole, more, far_more, fewer, broken };

/// Decodes streams that are mostly codes of single bytes, as images behind a predictor are, by tables of
/// several bytes at once, and all others by libdeflate. Not thread-safe: one per worker.
class Inflater {
 public:
  /// Throws OutOfMemory.
  Inflater();

  /// Fills `out` where `stream` begins with a zlib stream (RFC 1950) of exactly this many bytes; else what is
  /// in `out` afterwards means nothing. What is wrong with a stream is libdeflate's word. A stream of more
  /// than `max_bytes` is followed no further, as a few bytes can hold a thousand times as many.
  /// Throws OutOfMemory, of a stream of more.
  InflateStatus decode(std::span<const std::byte> stream, std::span<std::byte> out, std::size_t max_bytes);

  /// The same by our tables alone; false: not whole. `mostly_bytes`: or not mostly codes of bytes.
  bool decode_by_tables(std::span<const std::byte> stream, std::span<std::byte> out,
                        bool mostly_bytes = false) noexcept;

  /// Fills `one.out` and `other.out` as decode() does, in less time than that of two, if both streams are
  /// long and mostly codes of bytes: their look-ups are made in turns. What is false is not filled, and left
  /// to decode().
  struct Coded {
    Inflater& by;
    std::span<const std::byte> stream;
    std::span<std::byte> out;
  };
  static std::array<bool, 2> decode_two(const Coded& one, const Coded& other) noexcept;

  /// Whether the last stream that was filled was decoded by our tables.
  bool was_by_tables() const noexcept { return was_by_tables_; }

  /// Upper bound of what one holds.
  static std::int64_t memory_bytes() noexcept;

 private:
  struct Tables {
    LengthTable lengths;
    DistanceTable distances;
  };
  class Stream;
  struct Free {
    void operator()(libdeflate_decompressor* decoder) const noexcept {
      libdeflate_free_decompressor(decoder);
    }
  };

  std::unique_ptr<Tables> tables_;
  std::unique_ptr<libdeflate_decompressor, Free> libdeflate_;
  bool was_by_tables_ = false;
};

}  // namespace sepconv::deflate
