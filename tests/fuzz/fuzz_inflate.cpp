// Any bytes as deflate blocks, completed by a header and a checksum. Decoding by tables must accept only
// streams that libdeflate accepts, with the same output, and must accept all that zlib accepts. The decoder's
// status for valid and invalid streams must agree with libdeflate, also if two streams are decoded in one
// loop.
#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <vector>

#include "io/deflate/inflater.hpp"
#include "io/deflate/raster_coder.hpp"

namespace {

using Bytes = std::vector<std::byte>;
constexpr std::size_t kMax = 1 << 18;

void require(bool holds) {
  if (!holds) std::abort();
}

libdeflate_decompressor* libdeflate() {
  static libdeflate_decompressor* const decoder = libdeflate_alloc_decompressor();
  return decoder;
}

bool zlib_accepts(Bytes& blocks) {
  Bytes out(kMax);
  z_stream z{};
  z.next_in = reinterpret_cast<Bytef*>(blocks.data());
  z.avail_in = static_cast<uInt>(blocks.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  require(inflateInit2(&z, -15) == Z_OK);
  const int result = inflate(&z, Z_FINISH);
  inflateEnd(&z);
  return result == Z_STREAM_END;
}

Bytes stream_of(const Bytes& blocks, const Bytes& out) {
  Bytes stream{std::byte{0x78}, std::byte{0x01}};
  stream.insert(stream.end(), blocks.begin(), blocks.end());
  const std::uint32_t checksum = libdeflate_adler32(1, out.data(), out.size());
  for (int shift = 24; shift >= 0; shift -= 8) stream.push_back(static_cast<std::byte>(checksum >> shift));
  return stream;
}

/// A stream of Huffman-coded bytes, long enough that its decoder is mid-way when the other stream ends or
/// fails.
const Bytes& photograph() {
  static const Bytes bytes = [] {
    std::mt19937 random(1);
    std::geometric_distribution<int> magnitude(0.2);
    Bytes samples(20'000);
    for (std::byte& byte : samples)
      byte = static_cast<std::byte>((random() & 1) != 0 ? magnitude(random) : -magnitude(random));
    return samples;
  }();
  return bytes;
}

const Bytes& photograph_stream() {
  static const Bytes stream = [] {
    Bytes encoded(30'000);
    encoded.resize(
        static_cast<std::size_t>(sepconv::deflate::RasterCoder().encode(photograph(), {1, 200}, encoded)));
    return encoded;
  }();
  return stream;
}

/// Decoding two streams together must give the results of decoding each alone. Short streams are extended by
/// padding.
void check_decode_two(Bytes stream, std::size_t size) {
  using sepconv::deflate::Inflater;
  static Inflater inflater, second_inflater;
  stream.resize(std::max<std::size_t>(stream.size(), 2048));
  Bytes alone(size), out(size), pixels(photograph().size());
  const bool succeeds = inflater.decode_by_tables(stream, alone, true);
  for (const bool is_first : {false, true}) {
    const Inflater::Coded tested{inflater, stream, out},
        photograph_coded{second_inflater, photograph_stream(), pixels};
    const auto results = is_first ? Inflater::decode_two(tested, photograph_coded)
                                  : Inflater::decode_two(photograph_coded, tested);
    require(results[is_first] && pixels == photograph());
    require(results[!is_first] == succeeds && (!succeeds || out == alone));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sepconv::deflate::InflateStatus;
  static sepconv::deflate::Inflater inflater;
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  Bytes blocks(bytes, bytes + size);
  Bytes expected(kMax);
  std::size_t stream_bytes = 0, decoded_bytes = 0;
  const libdeflate_result result =
      libdeflate_deflate_decompress_ex(libdeflate(), blocks.data(), blocks.size(), expected.data(),
                                       expected.size(), &stream_bytes, &decoded_bytes);
  const bool by_zlib = zlib_accepts(blocks);
  if (result == LIBDEFLATE_SUCCESS) expected.resize(decoded_bytes), blocks.resize(stream_bytes);
  // The checksum of an invalid stream is arbitrary.
  const Bytes stream = stream_of(blocks, expected);
  Bytes out(result == LIBDEFLATE_SUCCESS ? decoded_bytes : 1000);
  const bool succeeds = inflater.decode_by_tables(stream, out);
  require(!succeeds || (result == LIBDEFLATE_SUCCESS && out == expected));
  require(succeeds || !by_zlib);
  if (result == LIBDEFLATE_SUCCESS) {
    Bytes smaller(decoded_bytes / 2);
    require(decoded_bytes == 0 || !inflater.decode_by_tables(stream, smaller));
    require(inflater.decode(stream, out, kMax) == InflateStatus::whole && out == expected);
  } else {
    require(inflater.decode(stream, out, kMax) != InflateStatus::whole);
  }
  check_decode_two(stream, out.size());
  // The raw bytes, too: with an arbitrary header and checksum.
  Bytes zlib_output(out.size());
  const bool is_stream = libdeflate_zlib_decompress(libdeflate(), bytes, size, zlib_output.data(),
                                                    zlib_output.size(), nullptr) == LIBDEFLATE_SUCCESS;
  require(inflater.decode_by_tables({bytes, size}, out) <= is_stream);
  return 0;
}
