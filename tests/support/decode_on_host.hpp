// Decodes a deflate stream on one host thread with the decoder of the GPU's warps. libdeflate computes the
// checksum, for which the GPU has separate kernels.
#pragma once

#include <libdeflate.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <span>

#include "core/encoded_tiles.hpp"
#include "kernels/deflate/stream_decoder.hpp"

namespace sepconv::test {

/// Whether the zlib or gzip stream decodes to exactly `out.size()` bytes with the right checksum. The stream
/// is copied to memory aligned to 16 bytes, so that a sanitizer detects reads beyond its last 16 bytes.
inline bool inflate_on_host(std::span<const std::byte> stream, BlockCodec codec, std::span<std::byte> out) {
  struct alignas(16) Part {
    std::byte bytes[kStreamAlignment];
  };
  const auto parts = std::make_unique<Part[]>(stream.size() / sizeof(Part) + 1);
  auto* const copy = reinterpret_cast<std::byte*>(parts.get());
  std::ranges::copy(stream, copy);
  const auto tables = std::make_unique<deflate::StreamTables>();
  std::ranges::fill(std::span(reinterpret_cast<std::byte*>(tables.get()), sizeof *tables), std::byte{0xA5});
  deflate::StreamDecoder<SingleThreadGroup> decoder(copy, std::ssize(stream), codec, out.data(),
                                                    std::ssize(out), *tables);
  if (stream.empty() || !decoder.run()) return false;
  const std::uint32_t checksum = codec == BlockCodec::gzip ? libdeflate_crc32(0, out.data(), out.size())
                                                           : libdeflate_adler32(1, out.data(), out.size());
  return checksum == decoder.checksum();
}

}  // namespace sepconv::test
