// Encodes blocks of one format, one at a time, from memory to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sepconv/core/memory.hpp"
#include "sepconv/io/tiff/block_format.hpp"

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

  /// The block to encode next, rows without gaps: to be filled by the caller. Encoding destroys it.
  std::byte* pixels() noexcept { return pixels_.data(); }

  /// Encodes pixels(), a JPEG with tables of its own. Throws IoError, OutOfMemory.
  void encode(EncodedBlock& encoded);

  /// Upper bound of the memory of one encoder.
  static std::int64_t memory_bytes(const BlockFormat& format);

 protected:
  explicit BlockEncoder(const BlockFormat& format) : format_(format), pixels_(format.bytes()) {}

 private:
  /// Appends to `encoded`, which is empty and has room for format().max_encoded_bytes().
  virtual void append_to(EncodedBlock& encoded) = 0;

  BlockFormat format_;
  Buffer pixels_;
};

std::unique_ptr<BlockEncoder> make_libtiff_encoder(const BlockFormat& format, std::string name);
std::unique_ptr<BlockEncoder> make_deflate_encoder(const BlockFormat& format);

}  // namespace sepconv
