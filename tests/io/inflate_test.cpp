#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "io/deflate/bit_sink.hpp"
#include "io/deflate/deflater.hpp"
#include "io/deflate/inflater.hpp"
#include "io/deflate/prefix_code.hpp"

namespace sepconv::deflate {
namespace {

using Bytes = std::vector<std::byte>;
using Random = std::mt19937_64;

constexpr std::byte kPoison{0xA5};
constexpr std::size_t kGuardBytes = 64;

/// The bytes that `decode` writes into `size` bytes. Checks that it writes nothing after them.
template <class Decode>
Bytes decode_guarded(std::size_t size, Decode decode) {
  Bytes out(size + kGuardBytes, kPoison);
  decode(std::span(out).first(size));
  CHECK(std::count(out.begin() + static_cast<std::ptrdiff_t>(size), out.end(), kPoison) == kGuardBytes);
  out.resize(size);
  return out;
}

constexpr std::size_t kManyBytes = 1 << 24;  // more than any stream here decodes to

void check_decodes(const Bytes& stream, const Bytes& bytes) {
  Inflater inflater;
  bool whole = false;
  const bool same = decode_guarded(bytes.size(), [&](std::span<std::byte> out) {
                      whole = inflater.decode_by_tables(stream, out);
                    }) == bytes;
  CHECK(whole);
  CHECK(same);
  InflateStatus result{};
  const bool as_same = decode_guarded(bytes.size(), [&](std::span<std::byte> out) {
                         result = inflater.decode(stream, out, kManyBytes);
                       }) == bytes;
  CHECK(result == InflateStatus::whole);
  CHECK(as_same);
}

/// For a stream that does not fit its output: `more` if the stream is valid, else `broken`.
InflateStatus libdeflate_unbounded(const Bytes& stream) {
  auto* const state = libdeflate_alloc_decompressor();
  Bytes out(1032 * stream.size() + 1);  // deflate's maximum expansion ratio
  std::size_t decoded_bytes = 0;
  const auto result =
      libdeflate_zlib_decompress(state, stream.data(), stream.size(), out.data(), out.size(), &decoded_bytes);
  libdeflate_free_decompressor(state);
  return result == LIBDEFLATE_SUCCESS ? InflateStatus::more : InflateStatus::broken;
}

InflateStatus decode_by_libdeflate(const Bytes& stream, std::span<std::byte> out) {
  auto* const state = libdeflate_alloc_decompressor();
  const auto result =
      libdeflate_zlib_decompress(state, stream.data(), stream.size(), out.data(), out.size(), nullptr);
  libdeflate_free_decompressor(state);
  return result == LIBDEFLATE_SUCCESS              ? InflateStatus::whole
         : result == LIBDEFLATE_INSUFFICIENT_SPACE ? libdeflate_unbounded(stream)  // `more` if it is valid
         : result == LIBDEFLATE_SHORT_OUTPUT       ? InflateStatus::fewer
                                                   : InflateStatus::broken;
}

/// Checks that decode_by_tables() accepts only streams that libdeflate accepts, and that decode() returns
/// libdeflate's result.
void check_as_libdeflate(const Bytes& stream, std::size_t size) {
  Inflater inflater;
  InflateStatus expected{}, result{};
  bool whole = false;
  const Bytes expected_bytes =
      decode_guarded(size, [&](std::span<std::byte> out) { expected = decode_by_libdeflate(stream, out); });
  const Bytes our_bytes = decode_guarded(
      size, [&](std::span<std::byte> out) { result = inflater.decode(stream, out, kManyBytes); });
  const Bytes by_tables =
      decode_guarded(size, [&](std::span<std::byte> out) { whole = inflater.decode_by_tables(stream, out); });
  const bool same = expected != InflateStatus::whole || our_bytes == expected_bytes;
  CHECK(result == expected);
  CHECK(same);
  if (!whole) return;
  const bool same_by_tables = by_tables == expected_bytes;
  CHECK(expected == InflateStatus::whole);
  CHECK(same_by_tables);
}

Bytes noise(std::size_t size, double spread, Random& random) {
  std::geometric_distribution<int> magnitude(1 / (1 + spread));
  Bytes bytes(size);
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>((random() & 1) != 0 ? magnitude(random) : -magnitude(random));
  return bytes;
}

/// Noise with repeated strings at near and far distances.
Bytes repetitive_bytes(std::size_t size, Random& random) {
  Bytes bytes = noise(size, 6, random);
  for (std::size_t at = 1; at < size; at += random() % 20) {
    const std::size_t distance = 1 + random() % std::min<std::size_t>(at, 1u << random() % 16);
    for (std::size_t end = std::min(size, at + random() % 40); at < end; ++at)
      bytes[at] = bytes[at - distance];
  }
  return bytes;
}

/// `flush` after every third of the bytes.
Bytes encode_by_zlib(const Bytes& bytes, int level, int strategy, int flush = Z_NO_FLUSH, int memory = 8) {
  z_stream z{};
  REQUIRE(deflateInit2(&z, level, Z_DEFLATED, 15, memory, strategy) == Z_OK);
  Bytes stream(deflateBound(&z, bytes.size()) + 1000);
  z.next_out = reinterpret_cast<Bytef*>(stream.data());
  z.avail_out = static_cast<uInt>(stream.size());
  z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  const auto deflate_part = [&](std::size_t count, int flush_mode, int result) {
    z.avail_in = static_cast<uInt>(count);
    REQUIRE(::deflate(&z, flush_mode) == result);
  };
  const std::size_t part = flush == Z_NO_FLUSH ? 0 : bytes.size() / 3;
  if (part > 0) deflate_part(part, flush, Z_OK), deflate_part(part, flush, Z_OK);
  deflate_part(bytes.size() - 2 * part, Z_FINISH, Z_STREAM_END);
  stream.resize(z.total_out);
  deflateEnd(&z);
  return stream;
}

template <class Coder>
Bytes encode_by_coder(Coder&& coder, const Bytes& bytes, MatchDistances raster) {
  Bytes stream(static_cast<std::size_t>(Deflater::max_bytes(std::ssize(bytes))));
  stream.resize(static_cast<std::size_t>(coder.encode(bytes, raster, stream)));
  return stream;
}

constexpr std::size_t kSizes[] = {0, 1, 2, 3, 7, 8, 9, 100, 301, 302, 303, 1000, 40'000, 150'001};

TEST_CASE("zlib streams of every level, strategy and flush mode are decoded") {
  Random random(1);
  constexpr std::pair<int, int> kKinds[] = {{0, Z_DEFAULT_STRATEGY},
                                            {1, Z_DEFAULT_STRATEGY},
                                            {6, Z_DEFAULT_STRATEGY},
                                            {9, Z_DEFAULT_STRATEGY},
                                            {6, Z_HUFFMAN_ONLY},
                                            {6, Z_RLE},
                                            {6, Z_FIXED},
                                            {6, Z_FILTERED}};
  const auto [level, strategy] = kKinds[GENERATE(range(0, 8))];
  CAPTURE(level, strategy);
  for (const std::size_t size : kSizes) {
    CAPTURE(size);
    for (const double spread : {0.0, 0.3, 5.0, 5000.0}) {
      const Bytes bytes = noise(size, spread, random);
      check_decodes(encode_by_zlib(bytes, level, strategy), bytes);
    }
    const Bytes bytes = repetitive_bytes(size, random);
    check_decodes(encode_by_zlib(bytes, level, strategy, Z_NO_FLUSH, 1), bytes);  // blocks of 128 symbols
    for (const int flush : {Z_PARTIAL_FLUSH, Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_BLOCK})
      check_decodes(encode_by_zlib(bytes, level, strategy, flush), bytes);
  }
}

TEST_CASE("Streams of libdeflate and of our encoder are decoded") {
  Random random(2);
  const int level = GENERATE(values<int>({kFast, kAutomatic, 1, 6, 9, kBestLevel}));
  CAPTURE(level);
  Deflater deflater(level);
  for (const std::size_t size : kSizes) {
    CAPTURE(size);
    for (const double spread : {0.0, 0.3, 5.0, 5000.0}) {
      const Bytes bytes = noise(size, spread, random);
      check_decodes(encode_by_coder(deflater, bytes, {2, 300}), bytes);
    }
    const Bytes bytes = repetitive_bytes(size, random);
    check_decodes(encode_by_coder(deflater, bytes, {2, 300}), bytes);
  }
}

TEST_CASE("Codes of bytes are decoded by tables of several, and streams of a search by libdeflate") {
  Random random(3);
  Inflater inflater;
  const Bytes photograph = noise(100'000, 4, random), strings = repetitive_bytes(100'000, random);
  Bytes out(photograph.size());
  CHECK(inflater.decode_by_tables(encode_by_coder(Deflater(kFast), photograph, {1, 500}), out, true));
  CHECK_FALSE(inflater.decode_by_tables(encode_by_coder(Deflater(6), strings, {1, 500}), out, true));
}

struct Case {
  Bytes stream;
  std::size_t size;  // requested output bytes
};

/// Streams of our encoder and of zlib: valid, damaged, and of another size than requested.
std::vector<Case> cases(Random& random) {
  std::vector<Case> all;
  for (const std::size_t size : {9'000, 70'001, 150'000}) {
    const Bytes photograph = noise(size, 4, random);
    for (const Bytes& stream :
         {encode_by_coder(Deflater(kFast), photograph, {2, 300}),
          encode_by_zlib(photograph, 6, Z_HUFFMAN_ONLY, Z_SYNC_FLUSH),
          encode_by_zlib(photograph, 0, Z_DEFAULT_STRATEGY), encode_by_zlib(photograph, 6, Z_RLE),
          encode_by_zlib(repetitive_bytes(size, random), 6, Z_DEFAULT_STRATEGY)})
      all.push_back({stream, size});
    Bytes damaged = all.front().stream;
    damaged[damaged.size() / 2] ^= std::byte{4};
    all.push_back({damaged, size});
    all.push_back({Bytes(damaged.begin(), damaged.begin() + std::ssize(damaged) / 2), size});
    for (const std::size_t requested_size : {size - 1, size + 1, size / 3, 2 * size})
      all.push_back({all[0].stream, requested_size});
  }
  all.push_back(
      {encode_by_coder(Deflater(kFast), noise(500, 4, random), {1, 60}), 500});  // not worth the tables
  return all;
}

TEST_CASE("Two streams decoded in one loop give the same results as each alone") {
  constexpr std::size_t kMinBytes = 2048;
  Random random(8);
  const std::vector<Case> all = cases(random);
  Inflater first, second;
  int accepted = 0;
  for (const Case& first_case : all) {
    for (const Case& second_case : all) {
      std::array<bool, 2> decoded{};
      Bytes second_out;
      const Bytes out = decode_guarded(first_case.size, [&](std::span<std::byte> first_to) {
        second_out = decode_guarded(second_case.size, [&](std::span<std::byte> second_to) {
          decoded = Inflater::decode_two({first, first_case.stream, first_to},
                                         {second, second_case.stream, second_to});
        });
      });
      const bool are_long = std::min(first_case.stream.size(), second_case.stream.size()) >= kMinBytes;
      const auto equals_single = [&](const Case& input, const Bytes& found_bytes, bool whole,
                                     const Inflater& used_inflater) {
        Bytes expected_bytes(input.size);
        const bool expected = are_long && Inflater().decode_by_tables(input.stream, expected_bytes, true);
        accepted += expected;
        return whole == expected &&
               (!whole || (found_bytes == expected_bytes && used_inflater.decoded_by_tables()));
      };
      CAPTURE(first_case.stream.size(), first_case.size, second_case.stream.size(), second_case.size);
      CHECK(equals_single(first_case, out, decoded[0], first));
      CHECK(equals_single(second_case, second_out, decoded[1], second));
    }
  }
  CHECK(accepted > 200);
}

/// Writes a deflate stream symbol by symbol.
class StreamBuilder {
 public:
  StreamBuilder() { sink_.put(kZlibHeader, 16); }

  void begin_fixed() {
    sink_.put(1 | 1 << 1, 3);
    set_codes(fixed_lengths(), std::vector<std::uint8_t>(30, 5));
  }

  /// Writes the code lengths one by one, each as a code of 4 bits.
  void begin_dynamic(const std::vector<std::uint8_t>& lengths, const std::vector<std::uint8_t>& distances) {
    sink_.put(1 | 2 << 1, 3);
    sink_.put((lengths.size() - 257) | (distances.size() - 1) << 5 | 15 << 10, 14);
    for (const int symbol : {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15})
      sink_.put(symbol < 16 ? 4 : 0, 3);
    const std::vector<std::uint16_t> codes = codes_of(std::vector<std::uint8_t>(16, 4));
    for (const auto& list : {lengths, distances})
      for (const std::uint8_t bits : list) sink_.put(codes[bits], 4);
    set_codes(lengths, distances);
  }

  void literal(std::byte byte) {
    put_symbol(length_bits_, length_codes_, std::to_integer<std::size_t>(byte));
    bytes_.push_back(byte);
  }

  /// `length` is 3 to 10, or 258. A match that reaches before the first byte is written, but adds nothing to
  /// bytes().
  void match(std::size_t length, std::size_t distance) {
    put_symbol(length_bits_, length_codes_, length == 258 ? 285 : 254 + length);
    // RFC 1951, 3.2.5.
    static constexpr std::size_t kFirst[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                             33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                             1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    const auto symbol = static_cast<std::size_t>(std::ranges::upper_bound(kFirst, distance) - kFirst) - 1;
    put_symbol(distance_bits_, distance_codes_, symbol);
    sink_.put(distance - kFirst[symbol], symbol < 4 ? 0 : static_cast<unsigned>(symbol / 2 - 1));
    if (distance > bytes_.size()) return;
    for (std::size_t i = 0; i < length; ++i) bytes_.push_back(bytes_[bytes_.size() - distance]);
  }

  Bytes finish() {
    put_symbol(length_bits_, length_codes_, 256);
    sink_.align();
    sink_.put(__builtin_bswap32(libdeflate_adler32(1, bytes_.data(), bytes_.size())), 32);
    buffer_.resize(static_cast<std::size_t>(sink_.out - buffer_.data()));
    return buffer_;
  }

  const Bytes& bytes() const { return bytes_; }

 private:
  static std::vector<std::uint8_t> fixed_lengths() {
    std::vector<std::uint8_t> bits(288, 8);
    std::fill(bits.begin() + 144, bits.begin() + 256, std::uint8_t{9});
    std::fill(bits.begin() + 256, bits.begin() + 280, std::uint8_t{7});
    return bits;
  }

  static std::vector<std::uint16_t> codes_of(const std::vector<std::uint8_t>& lengths) {
    std::vector<std::uint16_t> codes(lengths.size());
    assign_codes(lengths.data(), static_cast<int>(lengths.size()), [&](int symbol, std::uint32_t code) {
      codes[static_cast<std::size_t>(symbol)] = static_cast<std::uint16_t>(code);
    });
    return codes;
  }

  void set_codes(const std::vector<std::uint8_t>& lengths, const std::vector<std::uint8_t>& distances) {
    length_bits_ = lengths, distance_bits_ = distances;
    length_codes_ = codes_of(lengths), distance_codes_ = codes_of(distances);
  }

  void put_symbol(const std::vector<std::uint8_t>& bits, const std::vector<std::uint16_t>& codes,
                  std::size_t symbol) {
    sink_.put(codes.at(symbol), bits.at(symbol));
  }

  Bytes buffer_ = Bytes(std::size_t{1} << 20), bytes_;
  BitSink sink_{buffer_.data()};
  std::vector<std::uint8_t> length_bits_, distance_bits_;
  std::vector<std::uint16_t> length_codes_, distance_codes_;
};

TEST_CASE(
    "Matches of every distance are decoded, including those that overlap themselves or end the output") {
  Random random(4);
  for (std::size_t distance = 1; distance <= 32768; distance += distance < 300 ? 1 : distance / 7) {
    if (distance > 30000) distance = 32768;
    CAPTURE(distance);
    StreamBuilder builder;
    builder.begin_fixed();
    for (std::size_t i = 0; i < distance; ++i) builder.literal(static_cast<std::byte>(random()));
    for (const std::size_t length : {3, 4, 258, 10, 5, 258, 9}) builder.match(length, distance);
    builder.literal(std::byte{7});
    builder.match(258, distance);
    check_decodes(builder.finish(), builder.bytes());
  }
}

TEST_CASE("A distance that reaches before the output's first byte is refused") {
  Inflater inflater;
  for (const std::size_t distance : {1, 2, 3, 40, 32768}) {
    for (const std::size_t following : {std::size_t{0}, std::size_t{5000}}) {
      CAPTURE(distance, following);
      StreamBuilder builder;
      builder.begin_fixed();
      for (std::size_t i = 1; i < distance; ++i) builder.literal(std::byte{1});
      builder.match(3, distance);
      for (std::size_t i = 0; i < following; ++i) builder.literal(std::byte{2});
      const Bytes stream = builder.finish();
      Bytes out(builder.bytes().size() + 3);
      CHECK_FALSE(inflater.decode_by_tables(stream, out));
      CHECK(inflater.decode(stream, out, kManyBytes) == InflateStatus::broken);
    }
  }
}

TEST_CASE("Codes of maximum length and single codes are decoded") {
  std::vector<std::uint8_t> lengths(258, 0), distances(16);
  for (std::size_t i = 0; i < 14; ++i) lengths[i] = static_cast<std::uint8_t>(i + 1);
  lengths[256] = lengths[257] = 15;
  for (std::size_t i = 0; i < 16; ++i)
    distances[i] = static_cast<std::uint8_t>(std::min(16 - i, std::size_t{15}));
  const std::size_t kind = GENERATE(range(0, 3));
  if (kind > 0)
    distances.assign(1, static_cast<std::uint8_t>(kind == 1));  // a single distance code, and none
  CAPTURE(kind);
  Random random(5);
  StreamBuilder builder;
  builder.begin_dynamic(lengths, distances);
  for (int i = 0; i < 300; ++i) builder.literal(static_cast<std::byte>(random() % 14));
  for (int i = 0; i < 3000 && kind < 2; ++i) {
    builder.literal(static_cast<std::byte>(random() % 14));
    builder.match(3, kind == 0 ? 1 + random() % 256 : 1);
  }
  const Bytes stream = builder.finish();
  check_decodes(stream, builder.bytes());
  lengths[0] = 2;  // no longer complete
  StreamBuilder incomplete;
  incomplete.begin_dynamic(lengths, distances);
  check_as_libdeflate(incomplete.finish(), 0);
  Inflater inflater;
  CHECK(inflater.decode(incomplete.finish(), {}, kManyBytes) == InflateStatus::broken);
}

TEST_CASE("Decoding stops at the output limit, else continues to the checksum") {
  const Bytes bytes(100'000);
  auto* const encoder = libdeflate_alloc_compressor(6);
  Bytes stream(libdeflate_zlib_compress_bound(encoder, bytes.size()));
  stream.resize(libdeflate_zlib_compress(encoder, bytes.data(), bytes.size(), stream.data(), stream.size()));
  libdeflate_free_compressor(encoder);
  Inflater inflater;
  Bytes out(1000);
  CHECK(inflater.decode(stream, out, bytes.size()) == InflateStatus::more);
  CHECK(inflater.decode(stream, out, bytes.size() - 1) == InflateStatus::over_limit);
  stream.back() ^= std::byte{1};
  CHECK(inflater.decode(stream, out, bytes.size()) == InflateStatus::broken);
  CHECK(inflater.decode(stream, out, 5000) == InflateStatus::over_limit);
}

TEST_CASE("Truncated, damaged and wrongly sized streams give libdeflate's result") {
  Random random(6);
  const Bytes bytes = repetitive_bytes(3000, random), photograph = noise(6000, 3, random);
  for (const Bytes& stream :
       {encode_by_zlib(bytes, 6, Z_DEFAULT_STRATEGY, Z_SYNC_FLUSH), encode_by_zlib(bytes, 6, Z_FIXED),
        encode_by_coder(Deflater(kFast), photograph, {1, 60})}) {
    const std::size_t size = stream.size() > 4000 ? photograph.size() : bytes.size();
    for (std::size_t cut = 0; cut < stream.size(); ++cut)
      check_as_libdeflate(Bytes(stream.begin(), stream.begin() + static_cast<std::ptrdiff_t>(cut)), size);
    for (std::size_t bit = 0; bit < 8 * stream.size(); bit += 1 + random() % 9) {
      Bytes damaged = stream;
      damaged[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      check_as_libdeflate(damaged, size);
    }
    for (const std::size_t requested_size : {std::size_t{0}, size / 2, size - 1, size + 1, size + 1000})
      check_as_libdeflate(stream, requested_size);
    Bytes longer = stream;
    longer.resize(stream.size() + 9);
    check_as_libdeflate(longer, size);
  }
}

}  // namespace
}  // namespace sepconv::deflate
