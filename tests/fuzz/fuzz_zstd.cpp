// What zstd's coder of rasters makes of any bytes is what libzstd and the decoder that a GPU's warps run make
// of it, in memory that has not a byte too much. The first four bytes say how they lie, whether
// there is a checksum, and how often the rest comes again, so that there are frames of several blocks.
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
  const auto room = static_cast<std::size_t>(zstd::RasterCoder::max_bytes(std::ssize(bytes)));
  const auto frame = std::make_unique<std::byte[]>(room);
  const std::int64_t size = coder.encode(bytes, raster, has_checksum, {frame.get(), room});
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
    for (std::size_t at = 4; at < size; ++at) bytes.push_back(static_cast<std::byte>(data[at] + i));
  }
  static zstd::RasterCoder coder;
  check(coder, bytes, raster, data[3] >= 64);
  return 0;
}
