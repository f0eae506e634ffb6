// libzstd and the zstd decoder for GPU warps must decode the output of the raster coder for any input, into a
// buffer of exact size. The first four bytes determine the raster, the checksum, and how often the rest is
// repeated, so that frames of several blocks occur.
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "io/zstd/raster_coder.hpp"
#include "kernels/zstd/frame_decoder.hpp"

namespace {

using namespace sepconv;
using Bytes = std::vector<std::byte>;

void require(bool holds) {
  if (!holds) std::abort();
}

void check(zstd::RasterCoder& coder, const Bytes& bytes, zstd::MatchDistances raster, bool has_checksum) {
  const auto capacity = static_cast<std::size_t>(zstd::RasterCoder::max_bytes(std::ssize(bytes)));
  const auto frame = std::make_unique<std::byte[]>(capacity);
  const std::int64_t size = coder.encode(bytes, raster, has_checksum, {frame.get(), capacity});
  Bytes out(bytes.size());
  require(ZSTD_decompress(out.data(), out.size(), frame.get(), static_cast<std::size_t>(size)) == out.size());
  require(out == bytes);
  const auto literals =
      std::make_unique<std::byte[]>(std::min<std::size_t>(bytes.size(), zstd::kMaxBlockBytes));
  const auto tables = std::make_unique<zstd::Tables>();
  std::ranges::fill(out, std::byte{});
  require(zstd::FrameDecoder<SingleThreadGroup>(frame.get(), size, out.data(), std::ssize(out),
                                                literals.get(), *tables)
              .run());
  require(out == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  const zstd::MatchDistances raster{1 + data[0] % 16, std::int64_t{data[1]} * data[2]};
  Bytes bytes;
  for (int i = 0; i <= data[3] % 64 && bytes.size() < 200'000; ++i) {
    for (std::size_t offset = 4; offset < size; ++offset)
      bytes.push_back(static_cast<std::byte>(data[offset] + i));
  }
  static zstd::RasterCoder coder;
  check(coder, bytes, raster, data[3] >= 64);
  return 0;
}
