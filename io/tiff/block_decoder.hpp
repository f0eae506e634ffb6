// Decodes blocks of one format, one at a time, from memory to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/memory.hpp"
#include "io/deflate/inflater.hpp"
#include "io/tiff/block_format.hpp"
#include "io/tiff/tiff_handle.hpp"
#include "io/zstd/zstd_coder.hpp"

namespace sepconv {

/// Owns a libtiff handle and the buffers of one worker. Not thread-safe: one per worker.
class BlockDecoder {
 public:
  BlockDecoder(const BlockFormat& format, std::string name);
  ~BlockDecoder();
  BlockDecoder(const BlockDecoder&) = delete;
  BlockDecoder& operator=(const BlockDecoder&) = delete;

  /// Returns a buffer for the encoded bytes of the next block, filled by the caller.
  std::span<std::byte> encoded(std::int64_t bytes);
  /// Returns a buffer for a decoded block, for callers that cannot decode in place.
  std::span<std::byte> scratch();

  /// Decodes the contents of encoded() into `out`: whole rows of the block, in native byte order, YCbCr as
  /// RGB. Fills all of `out` or throws: IoError, with `context` between the file's name and the codec's
  /// message, or OutOfMemory. `is_last_strip`: a JPEG may have more rows than the image, since some writers
  /// fill up the last strip. A JPEG uses the format's tables and its own, never those of an earlier block.
  void decode(std::span<std::byte> out, const std::string& context, bool is_last_strip = false);

  /// Decodes two deflate streams together as far as possible, each into the buffer that must be passed to the
  /// next decode(), which completes it. Useful for blocks of mostly literal bytes: see decoded_by_tables().
  static void decode_pair(BlockDecoder& first, std::span<std::byte> first_out, BlockDecoder& second,
                          std::span<std::byte> second_out) noexcept;
  static bool can_decode_pairs(const BlockFormat& format) noexcept;
  /// Whether the last block was a deflate stream of that kind.
  bool decoded_by_tables() const noexcept { return inflater_ && inflater_->decoded_by_tables(); }

  /// Whether the last block was a JPEG with extraneous bytes.
  bool has_extra_bytes() const noexcept { return handle_.has_extra_bytes(); }

  /// Upper bound of the memory of one decoder.
  static std::int64_t memory_bytes(const BlockFormat& format);

 private:
  /// Decodes without libtiff; returns false if libtiff must decode.
  bool decode_directly(std::span<std::byte> out, const std::string& context);
  std::span<const std::byte> stream() const noexcept {
    return encoded_.bytes().first(static_cast<std::size_t>(encoded_bytes_));
  }
  bool inflate(std::span<std::byte> out, const std::string& context);
  void unpack_zstd(std::span<std::byte> out, const std::string& context);
  [[noreturn]] void fail(const std::string& context, const char* problem) const;
  void check_jpeg_extent(std::span<const std::byte> out, const std::string& context,
                         bool is_last_strip) const;
  void discard_block_tables();

  BlockFormat format_;
  std::unique_ptr<deflate::Inflater> inflater_;
  std::unique_ptr<ZstdDecoder> zstd_;
  std::unique_ptr<TiffBytes> directory_;
  TiffHandle handle_;
  bool is_inflated_ = false;       // by decode_pair()
  bool has_block_tables_ = false;  // the last JPEG defined its own tables
  Buffer encoded_;
  Buffer scratch_;
  std::int64_t encoded_bytes_ = 0;
};

}  // namespace sepconv
