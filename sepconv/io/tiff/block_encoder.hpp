// Encodes blocks of one format, one at a time, from memory to memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sepconv/core/memory.hpp"
#include "sepconv/io/tiff/block_format.hpp"
#include "sepconv/io/tiff/tiff_handle.hpp"

namespace sepconv {

/// The encoded bytes of a block, in memory that is used again for the next.
struct EncodedBlock {
  Buffer memory;
  std::int64_t size = 0;
  std::span<const std::byte> bytes() const noexcept {
    return memory.bytes().first(static_cast<std::size_t>(size));
  }
};

/// Owns a libtiff handle on a file in memory, which has the block as its only strip, and the buffers of one
/// worker. The bytes depend on the block's pixels only. Not thread-safe: one per worker.
class BlockEncoder {
 public:
  BlockEncoder(const BlockFormat& format, std::string name);
  ~BlockEncoder();
  BlockEncoder(const BlockEncoder&) = delete;
  BlockEncoder& operator=(const BlockEncoder&) = delete;

  const BlockFormat& format() const noexcept { return format_; }

  /// The block to encode next, rows without gaps: to be filled by the caller. Encoding destroys it.
  std::byte* pixels() noexcept { return pixels_.data(); }

  /// Encodes pixels(), a JPEG with tables of its own. Throws IoError.
  void encode(EncodedBlock& encoded);

  /// Upper bound of the memory of one encoder.
  static std::int64_t memory_bytes(const BlockFormat& format);

 private:
  class Collector;

  BlockFormat format_;
  std::unique_ptr<Collector> collector_;
  TiffHandle handle_;
  Buffer pixels_;
};

}  // namespace sepconv
