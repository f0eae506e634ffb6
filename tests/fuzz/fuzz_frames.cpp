// Decoders of zstd frames, LZ4 blocks and deflate streams for GPU warps, run here on a thread. They must
// accept only input that the libraries accept, with the same output, and must accept everything that an
// encoder produced. The first byte selects the codec, and whether the rest is a block or is encoded first and
// then damaged at positions given by six bytes.
#include <libdeflate.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "../support/decode_on_host.hpp"
#include "kernels/lz4/block_decoder.hpp"
#include "kernels/zstd/frame_decoder.hpp"

namespace {

using namespace sepconv;
using Bytes = std::vector<std::byte>;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_deflate(BlockCodec codec) { return codec == BlockCodec::zlib || codec == BlockCodec::gzip; }

/// Decodes into a buffer of exact size. Returns an empty result if the decoder refuses.
Bytes decoded(BlockCodec codec, const Bytes& block, std::size_t size) {
  const auto out = std::make_unique<std::byte[]>(size);
  const auto result_if = [&](bool good) { return good ? Bytes(out.get(), out.get() + size) : Bytes(); };
  if (is_deflate(codec)) return result_if(test::inflate_on_host(block, codec, {out.get(), size}));
  const auto in = std::make_unique<std::byte[]>(block.size());
  std::ranges::copy(block, in.get());
  const auto bytes = std::ssize(block), max_bytes = static_cast<std::int64_t>(size);
  if (codec == BlockCodec::lz4)
    return result_if(lz4::BlockDecoder<SingleThreadGroup>(in.get(), bytes, out.get(), max_bytes).run());
  const auto literals = std::make_unique<std::byte[]>(std::min<std::size_t>(size, zstd::kMaxBlockBytes));
  const auto tables = std::make_unique<zstd::Tables>();
  return result_if(
      zstd::FrameDecoder<SingleThreadGroup>(in.get(), bytes, out.get(), max_bytes, literals.get(), *tables)
          .run());
}

bool decoded_by_libdeflate(BlockCodec codec, const Bytes& block, Bytes& out) {
  static libdeflate_decompressor* const decoder = libdeflate_alloc_decompressor();
  const auto decode = codec == BlockCodec::gzip ? libdeflate_gzip_decompress : libdeflate_zlib_decompress;
  return decode(decoder, block.data(), block.size(), out.data(), out.size(), nullptr) == LIBDEFLATE_SUCCESS;
}

Bytes decoded_by_library(BlockCodec codec, const Bytes& block, std::size_t size) {
  Bytes out(size);
  if (is_deflate(codec)) return decoded_by_libdeflate(codec, block, out) ? out : Bytes();
  if (codec == BlockCodec::zstd)
    return ZSTD_decompress(out.data(), size, block.data(), block.size()) == size ? out : Bytes();
  if (block.size() <= 4) return {};
  const int decoded_bytes = LZ4_decompress_safe(reinterpret_cast<const char*>(block.data() + 4),
                                                reinterpret_cast<char*>(out.data()),
                                                static_cast<int>(block.size() - 4), static_cast<int>(size));
  return decoded_bytes == static_cast<int>(size) ? out : Bytes();
}

/// Compresses with zlib, at any of its levels and strategies.
Bytes deflated(BlockCodec codec, const Bytes& bytes, int level) {
  z_stream z{};
  const int window = codec == BlockCodec::gzip ? 31 : 15;
  require(deflateInit2(&z, level % 10, Z_DEFLATED, window, 8, level / 10 % 5) == Z_OK);
  Bytes stream(deflateBound(&z, bytes.size()));
  z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(stream.data());
  z.avail_out = static_cast<uInt>(stream.size());
  require(::deflate(&z, Z_FINISH) == Z_STREAM_END);
  stream.resize(z.total_out);
  deflateEnd(&z);
  return stream;
}

Bytes encoded(BlockCodec codec, const Bytes& bytes, int level) {
  if (is_deflate(codec)) return deflated(codec, bytes, level);
  if (codec == BlockCodec::zstd) {
    static ZSTD_CCtx* const context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, level % 20);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, level >= 100 ? 1 : 0);
    Bytes frame(ZSTD_compressBound(bytes.size()));
    frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), bytes.data(), bytes.size()));
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
  using enum BlockCodec;
  constexpr BlockCodec kCodecs[] = {zstd, lz4, zlib, gzip};
  const BlockCodec codec = kCodecs[(data[0] & 1) | (data[0] >> 1 & 2)];
  const bool is_block = (data[0] & 2) != 0;
  const auto* const begin = reinterpret_cast<const std::byte*>(data);
  const Bytes bytes(begin + kHead, begin + size);
  if (is_block) {
    const std::size_t size_limit = data[1] + std::size_t{data[2]} * 256 + 1;
    const Bytes actual = decoded(codec, bytes, size_limit);
    require(actual.empty() || actual == decoded_by_library(codec, bytes, size_limit));
    return 0;
  }
  Bytes block = encoded(codec, bytes, data[1]);
  require(decoded(codec, block, bytes.size()) == bytes);
  for (std::size_t i = 2; i + 1 < kHead; i += 2)
    block[data[i] * 7919U % std::min<std::size_t>(block.size(), 64 + 64 * i * i)] ^= std::byte{data[i + 1]};
  const Bytes actual = decoded(codec, block, bytes.size());
  require(actual.empty() || actual == decoded_by_library(codec, block, bytes.size()));
  return 0;
}
