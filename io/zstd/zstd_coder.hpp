// Compresses blocks of images to zstd frames (RFC 8878) and decompresses them.
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

  /// Writes a frame with a checksum to `out`, which has ZSTD_compressBound(in.size()); returns its size. It
  /// depends only on the bytes and the level. Throws OutOfMemory.
  std::int64_t encode(std::span<const std::byte> in, std::span<std::byte> out);

  /// Upper bound of an encoder's memory for inputs of at most `bytes`.
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

  /// Fills `out` if `frames` are frames of exactly this many bytes; otherwise returns false and `out` is
  /// unspecified.
  bool decode(std::span<const std::byte> frames, std::span<std::byte> out) noexcept;

  /// Decodes the first frame into `buffer` and ignores what follows. Returns its number of bytes, or a larger
  /// number than fits into `buffer`; null if the frame or its checksum is invalid. Allocates no memory,
  /// whatever window the frame requires, and does not decode beyond `buffer`.
  std::optional<std::int64_t> decode_first_frame(std::span<const std::byte> frames,
                                                 std::span<std::byte> buffer) noexcept;

 private:
  struct Free {
    void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
  };
  std::unique_ptr<ZSTD_DCtx, Free> context_;
};

}  // namespace sepconv
