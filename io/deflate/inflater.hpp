// Decompresses zlib streams to blocks of images.
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

/// Contents of a stream: exactly as many bytes as expected; more, with a correct checksum; more than
/// max_bytes; fewer; or an invalid stream.
enum class InflateStatus : std::uint8_t { whole, more, over_limit, fewer, broken };

/// Decodes zlib streams. Streams of mostly literal bytes, as images after a predictor are, are decoded by
/// look-up tables of several bytes; all others by libdeflate. Not thread-safe: one per worker.
class Inflater {
 public:
  /// Throws OutOfMemory.
  Inflater();

  /// Fills `out` if `stream` begins with a zlib stream (RFC 1950) of exactly this many bytes; otherwise `out`
  /// is unspecified. libdeflate decides what is wrong with a stream. Decoding stops after `max_bytes`, since
  /// a few bytes can expand a thousandfold. Throws OutOfMemory for a stream of more bytes than `out`.
  InflateStatus decode(std::span<const std::byte> stream, std::span<std::byte> out, std::size_t max_bytes);

  /// Decodes by our tables only; returns false if that fails. `mostly_bytes`: also fails if the symbols are
  /// not mostly bytes.
  bool decode_by_tables(std::span<const std::byte> stream, std::span<std::byte> out,
                        bool mostly_bytes = false) noexcept;

  /// Decodes two streams as decode() does, faster than one after the other if both are long and mostly
  /// literal bytes: their look-ups alternate. If an element of the result is false, its output is not filled
  /// and decode() is required.
  struct Coded {
    Inflater& inflater;
    std::span<const std::byte> stream;
    std::span<std::byte> out;
  };
  static std::array<bool, 2> decode_two(const Coded& first, const Coded& second) noexcept;

  /// Whether the last successful stream was decoded by our tables.
  bool decoded_by_tables() const noexcept { return was_by_tables_; }

  /// Upper bound of an inflater's memory.
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
