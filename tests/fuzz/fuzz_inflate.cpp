// Any bytes as the blocks of a stream, with the header and the checksum that make it one: our tables take
// nothing but what libdeflate takes, and make the same of it; they take what zlib takes; the decoder says
// of whole and of broken streams what libdeflate says; and of two streams in one loop what it says of each.
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

bool zlib_takes(Bytes& blocks) {
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

/// A stream of codes of bytes, in which a decoder is well on its way when the other's ends or breaks.
const Bytes& photograph() {
  static const Bytes bytes = [] {
    std::mt19937 random(1);
    std::geometric_distribution<int> magnitude(0.2);
    Bytes made(20'000);
    for (std::byte& byte : made)
      byte = static_cast<std::byte>((random() & 1) != 0 ? magnitude(random) : -magnitude(random));
    return made;
  }();
  return bytes;
}

const Bytes& photograph_stream() {
  static const Bytes stream = [] {
    Bytes made(30'000);
    made.resize(
        static_cast<std::size_t>(sepconv::deflate::RasterCoder().encode(photograph(), {1, 200}, made)));
    return made;
  }();
  return stream;
}

/// Streams are as each is alone; those that are short are made long by what follows their end.
void try_two(Bytes stream, std::size_t size) {
  using sepconv::deflate::Inflater;
  static Inflater inflater, other;
  stream.resize(std::max<std::size_t>(stream.size(), 2048));
  Bytes alone(size), out(size), pixels(photograph().size());
  const bool whole = inflater.decode_by_tables(stream, alone, true);
  for (const bool is_first : {false, true}) {
    const Inflater::Coded tried{inflater, stream, out}, right{other, photograph_stream(), pixels};
    const auto done = is_first ? Inflater::decode_two(tried, right) : Inflater::decode_two(right, tried);
    require(done[is_first] && pixels == photograph());
    require(done[!is_first] == whole && (!whole || out == alone));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using sepconv::deflate::InflateStatus;
  static sepconv::deflate::Inflater inflater;
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  Bytes blocks(bytes, bytes + size);
  Bytes right(kMax);
  std::size_t taken = 0, made = 0;
  const libdeflate_result result = libdeflate_deflate_decompress_ex(
      libdeflate(), blocks.data(), blocks.size(), right.data(), right.size(), &taken, &made);
  const bool by_zlib = zlib_takes(blocks);
  if (result == LIBDEFLATE_SUCCESS) right.resize(made), blocks.resize(taken);
  // The checksum of a broken stream is any.
  const Bytes stream = stream_of(blocks, right);
  Bytes out(result == LIBDEFLATE_SUCCESS ? made : 1000);
  const bool whole = inflater.decode_by_tables(stream, out);
  require(!whole || (result == LIBDEFLATE_SUCCESS && out == right));
  require(whole || !by_zlib);
  if (result == LIBDEFLATE_SUCCESS) {
    Bytes smaller(made / 2);
    require(made == 0 || !inflater.decode_by_tables(stream, smaller));
    require(inflater.decode(stream, out, kMax) == InflateStatus::whole && out == right);
  } else {
    require(inflater.decode(stream, out, kMax) != InflateStatus::whole);
  }
  try_two(stream, out.size());
  // As it is, too: a header and a checksum of any bytes.
  Bytes any(out.size());
  const bool is_stream = libdeflate_zlib_decompress(libdeflate(), bytes, size, any.data(), any.size(),
                                                    nullptr) == LIBDEFLATE_SUCCESS;
  require(inflater.decode_by_tables({bytes, size}, out) <= is_stream);
  return 0;
}
