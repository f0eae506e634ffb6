// Converts a row of a decoded tile to pixels by undoing predictor and byte order. The same source for a warp
// and for a host thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.hpp"
#include "kernels/codec/thread_group.hpp"

namespace sepconv {

struct DecodedRow {
  const std::byte* bytes;
  std::int64_t cols;
  int channels, predictor;
  bool swaps;
  std::int64_t begin, end;  ///< the requested columns
};

struct Add {
  template <class Word>
  SEPCONV_HOST_DEVICE Word operator()(Word a, Word b) const {
    return static_cast<Word>(a + b);
  }
};

/// Adds the bytes of two words separately (SIMD within a register).
struct AddBytes {
  template <class Word>
  SEPCONV_HOST_DEVICE Word operator()(Word a, Word b) const {
    constexpr auto kHigh = static_cast<Word>(0x8080'8080'8080'8080U);
    const auto low = static_cast<Word>(~kHigh);
    return static_cast<Word>(((a & low) + (b & low)) ^ ((a ^ b) & kHigh));
  }
};

template <class Word>
SEPCONV_HOST_DEVICE Word swapped(Word value) {
  Word result = 0;
  for (unsigned byte = 0; byte < sizeof(Word); ++byte)
    result = static_cast<Word>(
        result | static_cast<Word>((value >> 8 * byte & 0xFF) << 8 * (sizeof(Word) - 1 - byte)));
  return result;
}

/// Copies elements, or undoes horizontal differencing (TIFF 6.0, section 14).
template <class ThreadGroup, class Word>
SEPCONV_HOST_DEVICE void unpredict_words(const ThreadGroup& group, DecodedRow row, Word* to) {
  const auto* const from = reinterpret_cast<const Word*>(row.bytes);
  if (row.predictor == 1) {  // elements are independent
    row.cols *= row.channels, row.begin *= row.channels, row.end *= row.channels;
    row.channels = 1;
  }
  const std::int64_t first = row.predictor == 1 ? row.begin : 0;
  for (int channel = 0; channel < row.channels; ++channel) {
    Word before = 0;
    for (std::int64_t chunk = first; chunk < row.end; chunk += ThreadGroup::kLanes) {
      const std::int64_t col = chunk + group.lane();
      Word value = col < row.end ? from[col * row.channels + channel] : Word{0};
      if (row.swaps) value = swapped(value);
      if (row.predictor != 1) {
        value = Add()(group.inclusive_scan(value, Add()), before);
        before = group.broadcast_last(value);
      }
      if (col >= row.begin && col < row.end) to[(col - row.begin) * row.channels + channel] = value;
    }
  }
}

/// Undoes the floating-point predictor (Adobe's TIFF technical note 3): a row consists of byte planes, the
/// most significant first, and each byte is the difference from the previous pixel's, across planes. The sums
/// of all planes are computed side by side in a word.
template <class ThreadGroup, class Word>
SEPCONV_HOST_DEVICE void unpredict_planes(const ThreadGroup& group, const DecodedRow& row, Word* to) {
  const auto* const planes = reinterpret_cast<const std::uint8_t*>(row.bytes);
  const std::int64_t count = row.cols * row.channels;
  const auto word_at = [&](std::int64_t col, int channel) {
    Word word = 0;
    for (unsigned plane = 0; plane < sizeof(Word); ++plane)
      word = static_cast<Word>(word << 8 | planes[plane * count + col * row.channels + channel]);
    return word;
  };
  for (int channel = 0; channel < row.channels; ++channel) {
    Word total = 0, before = 0;
    for (std::int64_t col = group.lane(); col < row.cols; col += ThreadGroup::kLanes)
      total = AddBytes()(total, word_at(col, channel));
    total = group.sum(total, AddBytes());
    for (unsigned plane = 1; plane < sizeof(Word); ++plane)
      before = AddBytes()(before, static_cast<Word>(total >> 8 * plane));
    for (std::int64_t chunk = 0; chunk < row.end; chunk += ThreadGroup::kLanes) {
      const std::int64_t col = chunk + group.lane();
      const Word difference = col < row.end ? word_at(col, channel) : Word{0};
      const Word value = AddBytes()(group.inclusive_scan(difference, AddBytes()), before);
      before = group.broadcast_last(value);
      if (col >= row.begin && col < row.end) to[(col - row.begin) * row.channels + channel] = value;
    }
  }
}

/// `to`: the first requested column. All pointers are aligned to the word size.
template <class ThreadGroup, class Word>
SEPCONV_HOST_DEVICE void unpredict_row(const ThreadGroup& group, const DecodedRow& row, Word* to) {
  if constexpr (sizeof(Word) >= 4) {
    if (row.predictor == 3) return unpredict_planes(group, row, to);
  }
  unpredict_words(group, row, to);
}

}  // namespace sepconv
