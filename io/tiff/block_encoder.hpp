// Encodes blocks of one format, one at a time, from memory to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/image.hpp"
#include "core/memory.hpp"
#include "io/tiff/block_format.hpp"

namespace sepconv {

/// The encoded bytes of a block, in memory that is used again for the next.
struct EncodedBlock {
  Buffer memory;
  std::int64_t size = 0;
  std::span<const std::byte> bytes() const noexcept {
    return memory.bytes().first(static_cast<std::size_t>(size));
  }
};

/// Holds what one worker needs. The bytes depend on the block's pixels and format only. Not thread-safe: one
/// per worker.
class BlockEncoder {
 public:
  /// One for blocks of this format; messages begin with `name`.
  static std::unique_ptr<BlockEncoder> make(const BlockFormat& format, std::string name);

  virtual ~BlockEncoder() = default;
  BlockEncoder(const BlockEncoder&) = delete;
  BlockEncoder& operator=(const BlockEncoder&) = delete;

  const BlockFormat& format() const noexcept { return format_; }

  /// Encodes channel `channel` of the pixels, or all of them (kAllChannels), filled up to a block; a JPEG
  /// with tables of its own. Throws IoError, OutOfMemory.
  void encode(const ConstPixelView& pixels, std::int64_t channel, EncodedBlock& encoded);

  /// Upper bound of the memory of one encoder.
  static std::int64_t memory_bytes(const BlockFormat& format);

 protected:
  explicit BlockEncoder(const BlockFormat& format) : format_(format) {}

  /// The block, rows without gaps; encoding may destroy it.
  std::byte* block();

 private:
  /// Appends block() to `encoded`, which is empty and has room for format().max_encoded_bytes().
  virtual void append_to(EncodedBlock& encoded) = 0;
  /// Appends pixels that are a whole block, as it is but for gaps between rows; false: block() is wanted.
  virtual bool append_whole(const ConstPixelView&, EncodedBlock&) { return false; }

  BlockFormat format_;
  Buffer block_;  ///< made when it is first wanted
};

std::unique_ptr<BlockEncoder> make_libtiff_encoder(const BlockFormat& format, std::string name);
/// Deflate and zstd.
std::unique_ptr<BlockEncoder> make_predicted_encoder(const BlockFormat& format);

}  // namespace sepconv
