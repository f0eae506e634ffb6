#include "io/tiff/predictor_inverse.hpp"

#include <algorithm>
#include <array>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "io/tiff/predictor_inverse.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET != HWY_SCALAR
/// Prefix sums of a vector of 16 bytes by doubling: adds to each lane the one `kStep` before, then the one
/// twice as far before.
template <class D, std::size_t kStep>
HWY_INLINE hn::Vec<D> sums_within(D d, hn::Vec<D> lanes) {
  if constexpr (kStep * sizeof(hn::TFromD<D>) < 16) {
    return sums_within<D, 2 * kStep>(d,
                                     hn::Add(lanes, hn::ShiftLeftLanes<static_cast<int>(kStep)>(d, lanes)));
  } else {
    return lanes;
  }
}

/// Sums up whole vectors; returns the number of words done.
template <class Word, std::size_t kStep>
std::int64_t sum_vectors(Word* words, std::int64_t count) {
  const hn::FixedTag<Word, 16 / sizeof(Word)> d;
  constexpr auto kLanes = static_cast<std::int64_t>(16 / sizeof(Word));
  auto carry = hn::Zero(d);
  // Indices that repeat the last pixel of a vector for every pixel of the next.
  alignas(16) std::array<std::uint8_t, 16> last_pixel_indices;
  constexpr std::size_t kPixelBytes = kStep * sizeof(Word);
  for (std::size_t i = 0; i < 16; ++i)
    last_pixel_indices[i] = static_cast<std::uint8_t>(16 - kPixelBytes + i % kPixelBytes);
  const hn::FixedTag<std::uint8_t, 16> bytes;
  const auto indices = hn::Load(bytes, last_pixel_indices.data());
  std::int64_t done = 0;
  for (; done + kLanes <= count; done += kLanes) {
    const auto sums = hn::Add(sums_within<decltype(d), kStep>(d, hn::LoadU(d, words + done)), carry);
    hn::StoreU(sums, d, words + done);
    carry = hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, sums), indices));
  }
  return done;
}

template <class Word>
std::int64_t sum_whole_vectors(Word* words, std::int64_t count, std::int64_t step) {
  constexpr std::size_t kMax = 16 / sizeof(Word);
  if (step == 1) return sum_vectors<Word, 1>(words, count);
  if constexpr (kMax > 2)
    if (step == 2) return sum_vectors<Word, 2>(words, count);
  if constexpr (kMax > 4)
    if (step == 4) return sum_vectors<Word, 4>(words, count);
  return 0;
}
#else
template <class Word>
std::int64_t sum_whole_vectors(Word*, std::int64_t, std::int64_t) {
  return 0;
}
#endif

template <class Word>
void sum_words(Word* words, std::int64_t count, std::int64_t step) {
  std::int64_t i = std::max(step, sum_whole_vectors(words, count, step));
  if (step == 3 && count > 3) {  // sums stay in registers: reading a value just stored takes several cycles
    Word a = words[0], b = words[1], c = words[2];
    for (; i + 3 <= count; i += 3) {
      words[i] = a = static_cast<Word>(a + words[i]);
      words[i + 1] = b = static_cast<Word>(b + words[i + 1]);
      words[i + 2] = c = static_cast<Word>(c + words[i + 2]);
    }
  }
  for (; i < count; ++i) words[i] = static_cast<Word>(words[i] + words[i - step]);
}

}  // namespace

void sum_up_rows(std::byte* words, std::int64_t word_bytes, std::int64_t count, std::int64_t step) {
  switch (word_bytes) {
    case 1:
      return sum_words(reinterpret_cast<std::uint8_t*>(words), count, step);
    case 2:
      return sum_words(reinterpret_cast<std::uint16_t*>(words), count, step);
    case 4:
      return sum_words(reinterpret_cast<std::uint32_t*>(words), count, step);
    default:
      return sum_words(reinterpret_cast<std::uint64_t*>(words), count, step);
  }
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {
namespace {

HWY_EXPORT(sum_up_rows);

}  // namespace

void prefix_sum(std::byte* words, std::int64_t word_bytes, std::int64_t count, std::int64_t step) noexcept {
  HWY_DYNAMIC_DISPATCH(sum_up_rows)(words, word_bytes, count, step);
}

}  // namespace sepconv
#endif
