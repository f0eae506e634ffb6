// Blocks of images to frames of zstd (RFC 8878), and back.
#pragma once

#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

namespace sepconv {

/// Not thread-safe: one per worker.
class ZstdEncoder {
 public:
  /// `level`: 1 to 22. Throws OutOfMemory.
  explicit ZstdEncoder(int level);

  /// A frame at the beginning of `out`, which has ZSTD_compressBound(in.size()); returns its size. It depends
  /// on the bytes and the level alone, and ends with a checksum. Throws OutOfMemory.
  std::int64_t encode(std::span<const std::byte> in, std::span<std::byte> out);

  /// Upper bound of what one holds for inputs of at most this many bytes.
  static std::int64_t memory_bytes(int level, std::int64_t bytes) noexcept;

 private:
  struct Free {
    void operator()(ZSTD_CCtx* context) const noexcept { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> context_;
};

/// Not thread-safe: one per worker.
class ZstdDecoder {
 public:
  /// Throws OutOfMemory.
  ZstdDecoder();

  /// Fills `out` where `frames` are frames of exactly this many bytes; else false, and what is in `out`
  /// afterwards means nothing.
  bool decode(std::span<const std::byte> frames, std::span<std::byte> out) noexcept;

  /// How many bytes the first frame holds, whatever follows it: they are in `room`, and where they are more
  /// than it takes, so is the number. Nothing where the frame is broken, or its checksum wrong. Takes no
  /// memory, whatever window the frame asks for, and no time for what is beyond `room`.
  std::optional<std::int64_t> decode_first(std::span<const std::byte> frames,
                                           std::span<std::byte> room) noexcept;

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
};

}  // namespace sepconv
