// zlib and libdeflate must decode the output of the raster coder for any input. The first four bytes
// determine the raster and how often the rest is repeated, so that blocks of several parts occur.
#include <libdeflate.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "io/deflate/deflater.hpp"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(sepconv::deflate::Deflater& deflater, const std::vector<std::byte>& bytes,
           sepconv::deflate::MatchDistances raster) {
  std::vector<std::byte> stream(
      static_cast<std::size_t>(sepconv::deflate::Deflater::max_bytes(std::ssize(bytes))));
  stream.resize(static_cast<std::size_t>(deflater.encode(bytes, raster, stream)));
  std::vector<std::byte> out(bytes.size() + 1);
  uLongf decoded_bytes = out.size();
  require(uncompress(reinterpret_cast<Bytef*>(out.data()), &decoded_bytes,
                     reinterpret_cast<const Bytef*>(stream.data()), stream.size()) == Z_OK);
  out.resize(decoded_bytes);
  require(out == bytes);
  static libdeflate_decompressor* const decoder = libdeflate_alloc_decompressor();
  out.assign(bytes.size(), std::byte{});
  require(libdeflate_zlib_decompress(decoder, stream.data(), stream.size(), out.data(), out.size(),
                                     nullptr) == LIBDEFLATE_SUCCESS);
  require(out == bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 5) return 0;
  const sepconv::deflate::MatchDistances raster{1 + data[0] % 16, std::int64_t{data[1]} * data[2]};
  std::vector<std::byte> bytes;
  for (int i = 0; i <= data[3] % 64 && bytes.size() < 200'000; ++i) {
    for (std::size_t offset = 4; offset < size; ++offset)
      bytes.push_back(static_cast<std::byte>(data[offset] + i));
  }
  static sepconv::deflate::Deflater automatic(sepconv::deflate::kAutomatic), fast(sepconv::deflate::kFast);
  check(automatic, bytes, raster);
  check(fast, bytes, raster);
  return 0;
}
