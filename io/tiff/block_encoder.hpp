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

/// The encoded bytes of a block, in memory that is reused for the next.
struct EncodedBlock {
  Buffer memory;
  std::int64_t size = 0;
  std::span<const std::byte> bytes() const noexcept {
    return memory.bytes().first(static_cast<std::size_t>(size));
  }
};

/// Encoder and buffers of one worker. The encoded bytes depend only on the block's pixels and format. Not
/// thread-safe: one per worker.
class BlockEncoder {
 public:
  /// Creates an encoder for blocks of this format; error messages begin with `name`.
  static std::unique_ptr<BlockEncoder> make(const BlockFormat& format, std::string name);

  virtual ~BlockEncoder() = default;
  BlockEncoder(const BlockEncoder&) = delete;
  BlockEncoder& operator=(const BlockEncoder&) = delete;

  const BlockFormat& format() const noexcept { return format_; }

  /// Encodes channel `channel` of the pixels, or all of them (kAllChannels), padded to a full block. A JPEG
  /// includes its tables. Throws IoError, OutOfMemory.
  void encode(const ConstPixelView& pixels, std::int64_t channel, EncodedBlock& encoded);

  /// Upper bound of the memory of one encoder.
  static std::int64_t memory_bytes(const BlockFormat& format);

 protected:
  explicit BlockEncoder(const BlockFormat& format) : format_(format) {}

  /// The block, with dense rows; encoding may overwrite it.
  std::byte* block();

 private:
  /// Appends block() to `encoded`, which is empty and has a capacity of format().max_encoded_bytes().
  virtual void append_to(EncodedBlock& encoded) = 0;
  /// Encodes a whole block directly from `pixels`, whose rows may have gaps. Returns false if they must be
  /// copied to block() first.
  virtual bool append_whole(const ConstPixelView&, EncodedBlock&) { return false; }

  BlockFormat format_;
  Buffer block_;  ///< allocated on first use
};

std::unique_ptr<BlockEncoder> make_libtiff_encoder(const BlockFormat& format, std::string name);
/// For deflate and zstd.
std::unique_ptr<BlockEncoder> make_predicted_encoder(const BlockFormat& format);

}  // namespace sepconv
