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

  /// Room for the encoded bytes of the next block, to be filled by the caller.
  std::span<std::byte> encoded(std::int64_t bytes);
  /// Room for a decoded block, for those who cannot decode in place.
  std::span<std::byte> scratch();

  /// Decodes what encoded() was filled with into `out`: whole rows of the block, in native byte order, YCbCr
  /// as RGB. Fills all of `out` or throws IoError, with `what` between the file's name and the codec's
  /// message; OutOfMemory where that was the reason. `is_last_strip`: a JPEG may have more rows than the
  /// image, as writers leave them that fill up the last strip. It has the format's tables and its own, never
  /// those of a block before it.
  void decode(std::span<std::byte> out, const std::string& what, bool is_last_strip = false);

  /// Decodes as much as two deflate streams can be decoded together, each to where the next call of decode()
  /// then has to have it, which does the rest. For blocks that are mostly codes of bytes: see
  /// was_by_tables().
  static void decode_ahead(BlockDecoder& one, std::span<std::byte> out, BlockDecoder& other,
                           std::span<std::byte> other_out) noexcept;
  static bool can_decode_ahead(const BlockFormat& format) noexcept;
  /// Whether the last block was a deflate stream of that kind.
  bool was_by_tables() const noexcept { return inflater_ && inflater_->was_by_tables(); }

  /// Whether the last block was a JPEG with bytes that belong nowhere.
  bool has_extra_bytes() const noexcept { return handle_.has_extra_bytes(); }

  /// Upper bound of the memory of one decoder.
  static std::int64_t memory_bytes(const BlockFormat& format);

 private:
  /// Without libtiff; false: that has the word.
  bool decode_directly(std::span<std::byte> out, const std::string& what);
  std::span<const std::byte> stream() const noexcept {
    return encoded_.bytes().first(static_cast<std::size_t>(encoded_bytes_));
  }
  bool inflate(std::span<std::byte> out, const std::string& what);
  void unpack_zstd(std::span<std::byte> out, const std::string& what);
  [[noreturn]] void fail(const std::string& what, const char* found) const;
  void check_jpeg_extent(std::span<const std::byte> out, const std::string& what, bool is_last_strip) const;
  void forget_other_tables();

  BlockFormat format_;
  std::unique_ptr<deflate::Inflater> inflater_;
  std::unique_ptr<ZstdDecoder> zstd_;
  std::unique_ptr<TiffBytes> directory_;
  TiffHandle handle_;
  bool is_inflated_ = false;       // the block, ahead
  bool has_other_tables_ = false;  // than the format's: a JPEG brought its own
  Buffer encoded_;
  Buffer scratch_;
  std::int64_t encoded_bytes_ = 0;
};

}  // namespace sepconv
