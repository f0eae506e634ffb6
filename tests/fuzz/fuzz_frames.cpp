// Frames of zstd and blocks of LZ4 for the decoders that a GPU's warps run, here on a thread: whatever the
// bytes are, they take nothing but what the libraries take, and make the same of it; what an encoder made
// they take. The first byte says which codec, and whether the rest is a block or is encoded first and then
// damaged, at places that six bytes name.
#include <lz4.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "sepconv/kernels/lz4/block_decoder.hpp"
#include "sepconv/kernels/zstd/frame_decoder.hpp"

namespace {

using namespace sepconv;
using Bytes = std::vector<std::byte>;

void require(bool holds) {
  if (!holds) std::abort();
}

/// In memory that has not a byte too much; nothing where it is refused.
Bytes decoded(bool is_zstd, const Bytes& block, std::size_t size) {
  const auto in = std::make_unique<std::byte[]>(block.size());
  std::ranges::copy(block, in.get());
  const auto out = std::make_unique<std::byte[]>(size);
  const auto literals = std::make_unique<std::byte[]>(std::min<std::size_t>(size, zstd::kMostBlockBytes));
  const auto tables = std::make_unique<zstd::Tables>();
  const auto bytes = std::ssize(block), most = static_cast<std::int64_t>(size);
  const bool good =
      is_zstd ? zstd::FrameDecoder<Alone>(in.get(), bytes, out.get(), most, literals.get(), *tables).run()
              : lz4::BlockDecoder<Alone>(in.get(), bytes, out.get(), most).run();
  return good ? Bytes(out.get(), out.get() + size) : Bytes();
}

Bytes by_library(bool is_zstd, const Bytes& block, std::size_t size) {
  Bytes out(size);
  if (is_zstd) return ZSTD_decompress(out.data(), size, block.data(), block.size()) == size ? out : Bytes();
  if (block.size() <= 4) return {};
  const int made = LZ4_decompress_safe(reinterpret_cast<const char*>(block.data() + 4),
                                       reinterpret_cast<char*>(out.data()),
                                       static_cast<int>(block.size() - 4), static_cast<int>(size));
  return made == static_cast<int>(size) ? out : Bytes();
}

Bytes encoded(bool is_zstd, const Bytes& bytes, int level) {
  if (is_zstd) {
    Bytes frame(ZSTD_compressBound(bytes.size()));
    frame.resize(ZSTD_compress(frame.data(), frame.size(), bytes.data(), bytes.size(), level));
    return frame;
  }
  Bytes block(4 + static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(bytes.size()))));
  for (std::size_t i = 0; i < 4; ++i) block[i] = static_cast<std::byte>(bytes.size() >> 8 * i);
  block.resize(4 + static_cast<std::size_t>(LZ4_compress_default(
                       reinterpret_cast<const char*>(bytes.data()), reinterpret_cast<char*>(block.data() + 4),
                       static_cast<int>(bytes.size()), static_cast<int>(block.size() - 4))));
  return block;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kHead = 8;
  if (size <= kHead) return 0;
  const bool is_zstd = (data[0] & 1) == 0, is_block = (data[0] & 2) != 0;
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  const Bytes bytes(begin + kHead, begin + size);
  if (is_block) {
    const std::size_t made = data[1] + std::size_t{data[2]} * 256 + 1;
    const Bytes found = decoded(is_zstd, bytes, made);
    require(found.empty() || found == by_library(is_zstd, bytes, made));
    return 0;
  }
  Bytes block = encoded(is_zstd, bytes, data[1] % 20);
  require(decoded(is_zstd, block, bytes.size()) == bytes);
  for (std::size_t i = 2; i + 1 < kHead; i += 2)
    block[data[i] * 7919U % std::min<std::size_t>(block.size(), 64 + 64 * i * i)] ^= std::byte{data[i + 1]};
  const Bytes found = decoded(is_zstd, block, bytes.size());
  require(found.empty() || found == by_library(is_zstd, block, bytes.size()));
  return 0;
}
