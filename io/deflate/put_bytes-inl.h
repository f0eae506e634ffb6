// Packs the codes of bytes, forwards or backwards: four at a time on any CPU, 64 at a time with AVX3_DL
// vectors. Included once per target.
#if defined(SEPCONV_DEFLATE_PUT_BYTES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_DEFLATE_PUT_BYTES_INL_H
#undef SEPCONV_DEFLATE_PUT_BYTES_INL_H
#else
#define SEPCONV_DEFLATE_PUT_BYTES_INL_H
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "io/deflate/block_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::deflate::HWY_NAMESPACE {

/// Joins and writes the codes of four bytes of `word` from bit `first` on: at most 56 bits.
HWY_INLINE void put_four(std::uint64_t word, int first, const ByteCodes& codes, BitSink& sink) noexcept {
  std::uint64_t joined = 0;
  unsigned bits = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t code = codes.packed[word >> (first + 8 * i) & 0xFF];
    joined |= static_cast<std::uint64_t>(code & 0xFFFF) << bits;
    bits += code >> 16;
  }
  sink.put(joined, bits);
}

template <bool kBackwards>
void put_by_words(const std::byte* bytes, std::size_t count, const ByteCodes& codes, BitSink& sink) noexcept {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + (kBackwards ? count - i - 8 : i), sizeof word);
    if (kBackwards) word = __builtin_bswap64(word);
    put_four(word, 0, codes, sink);
    put_four(word, 32, codes, sink);
  }
  for (; i < count; ++i) {
    const std::uint32_t code =
        codes.packed[std::to_integer<std::size_t>(bytes[kBackwards ? count - i - 1 : i])];
    sink.put(code & 0xFFFF, code >> 16);
  }
}

#if HWY_TARGET <= HWY_AVX3_DL

/// Looks up 64 values in a table of 256 bytes, stored in four vectors. `upper`: indices of 128 and more.
HWY_INLINE __m512i look_up(const std::array<std::uint8_t, 256>& table, __m512i index,
                           __mmask64 upper) noexcept {
  const auto* const quarters = reinterpret_cast<const __m512i*>(table.data());
  return _mm512_mask_blend_epi8(upper, _mm512_permutex2var_epi8(quarters[0], index, quarters[1]),
                                _mm512_permutex2var_epi8(quarters[2], index, quarters[3]));
}

/// Codes in the lanes of a vector, and the number of bits of each.
struct Codes {
  __m512i code, bits;
};

/// Joins the codes of neighbouring 16-bit lanes.
HWY_INLINE Codes join_16(Codes pairs) noexcept {
  const __m512i low = _mm512_set1_epi32(0xFFFF);
  const __m512i first = _mm512_and_si512(pairs.bits, low);
  return {_mm512_or_si512(_mm512_and_si512(pairs.code, low),
                          _mm512_sllv_epi32(_mm512_srli_epi32(pairs.code, 16), first)),
          _mm512_add_epi32(first, _mm512_srli_epi32(pairs.bits, 16))};
}

/// Joins the codes of neighbouring 32-bit lanes.
HWY_INLINE Codes join_32(Codes pairs) noexcept {
  const __m512i low = _mm512_set1_epi64(0xFFFFFFFF);
  const __m512i first = _mm512_and_si512(pairs.bits, low);
  return {_mm512_or_si512(_mm512_and_si512(pairs.code, low),
                          _mm512_sllv_epi64(_mm512_srli_epi64(pairs.code, 32), first)),
          _mm512_add_epi64(first, _mm512_srli_epi64(pairs.bits, 32))};
}

/// 64-bit codes in memory, of at most 56 valid bits.
struct StoredCodes {
  alignas(64) std::uint64_t code[8], bits[8];

  HWY_INLINE explicit StoredCodes(Codes codes) noexcept {
    _mm512_store_si512(code, codes.code);
    _mm512_store_si512(bits, codes.bits);
  }
  HWY_INLINE void put(int i, BitSink& sink) const noexcept {
    sink.put(code[i], static_cast<unsigned>(bits[i]));
  }
};

/// Reverses the order of 64 bytes.
HWY_INLINE __m512i reversed(__m512i bytes) noexcept {
  constexpr std::int64_t kLow = 0x08090A0B0C0D0E0F, kHigh = 0x0001020304050607;
  const __m512i in_lanes = _mm512_shuffle_epi8(bytes, _mm512_set4_epi64(kHigh, kLow, kHigh, kLow));
  return _mm512_shuffle_i64x2(in_lanes, in_lanes, 0b00'01'10'11);
}

template <bool kBackwards>
void put_bytes(const std::byte* bytes, std::size_t count, const ByteCodes& codes, BitSink& sink) noexcept {
  std::size_t done = 0;
  if (count >= 64) {
    BitSink local = sink;
    const __m512i zero = _mm512_setzero_si512();
    for (; done + 64 <= count; done += 64) {
      __m512i index = _mm512_loadu_si512(bytes + (kBackwards ? count - done - 64 : done));
      if (kBackwards) index = reversed(index);
      const __mmask64 upper = _mm512_movepi8_mask(index);
      const __m512i code_low = look_up(codes.low, index, upper);
      const __m512i code_high = look_up(codes.high, index, upper);
      const __m512i bits = look_up(codes.bits, index, upper);
      const auto join_four = [&](__m512i code, __m512i length) { return join_32(join_16({code, length})); };
      const Codes a = join_four(_mm512_unpacklo_epi8(code_low, code_high), _mm512_unpacklo_epi8(bits, zero));
      const Codes b = join_four(_mm512_unpackhi_epi8(code_low, code_high), _mm512_unpackhi_epi8(bits, zero));
      // `even`: bytes 0 to 3, 8 to 11 and so on; `odd`: the four bytes after each.
      const Codes even{_mm512_unpacklo_epi64(a.code, b.code), _mm512_unpacklo_epi64(a.bits, b.bits)};
      const Codes odd{_mm512_unpackhi_epi64(a.code, b.code), _mm512_unpackhi_epi64(a.bits, b.bits)};
      const Codes eight{_mm512_or_si512(even.code, _mm512_sllv_epi64(odd.code, even.bits)),
                        _mm512_add_epi64(even.bits, odd.bits)};
      if (_mm512_cmpgt_epu64_mask(eight.bits, _mm512_set1_epi64(56)) == 0) {
        const StoredCodes stored(eight);
        for (int i = 0; i < 8; ++i) stored.put(i, local);
      } else {
        const StoredCodes stored_even(even), stored_odd(odd);
        for (int i = 0; i < 8; ++i) stored_even.put(i, local), stored_odd.put(i, local);
      }
    }
    sink = local;
  }
  put_by_words<kBackwards>(kBackwards ? bytes : bytes + done, count - done, codes, sink);
}

#else

template <bool kBackwards>
void put_bytes(const std::byte* bytes, std::size_t count, const ByteCodes& codes, BitSink& sink) noexcept {
  BitSink local = sink;
  put_by_words<kBackwards>(bytes, count, codes, local);
  sink = local;
}

#endif

}  // namespace sepconv::deflate::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
