#include "io/tiff/predictor.hpp"

#include <tiff.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "io/tiff/block_pixels.hpp"
#include "io/tiff/predictor_inverse.hpp"

namespace sepconv {
namespace {

/// Size of the words whose differences are stored.
std::int64_t word_bytes(SampleType type) noexcept {
  return type.bits == 8 || type.bits == 16 || type.bits == 32 ? type.bits / 8 : 8;
}

void sum_up_rows(std::span<std::byte> rows, const BlockFormat& format, std::int64_t width) noexcept {
  const std::int64_t row_bytes = format.row_bytes();
  for (std::int64_t at = 0; at + row_bytes <= std::ssize(rows); at += row_bytes)
    prefix_sum(rows.data() + at, width, row_bytes / width, format.channels);
}

template <class Word>
void differences(const std::byte* from, std::byte* to, std::int64_t count, std::int64_t step) noexcept {
  const auto* const values = reinterpret_cast<const Word*>(from);
  auto* const out = reinterpret_cast<Word*>(to);
  std::copy_n(values, std::min(step, count), out);
  for (std::int64_t i = step; i < count; ++i) out[i] = static_cast<Word>(values[i] - values[i - step]);
}

template <class Word>
void differences_of_rows(const std::byte* rows, std::int64_t pitch_bytes, std::byte* to,
                         const BlockFormat& format) noexcept {
  const std::int64_t row_bytes = format.row_bytes();
  for (std::int64_t row = 0; row < format.extent.rows; ++row) {
    differences<Word>(rows + row * pitch_bytes, to + row * row_bytes,
                      row_bytes / static_cast<std::int64_t>(sizeof(Word)), format.channels);
  }
}

/// The inverse of join_bytes().
template <std::int64_t kWidth>
void alpha_split_bytes(const std::byte* rows, std::int64_t pitch_bytes, std::byte* to,
                       const BlockFormat& format) {
  const std::int64_t row_bytes = format.row_bytes();
  const std::int64_t count = row_bytes / kWidth;
  std::vector<std::byte> planes(static_cast<std::size_t>(row_bytes));
  constexpr bool kLittle = std::endian::native == std::endian::little;
  for (std::int64_t i = 0; i < format.extent.rows; ++i) {
    const std::byte* const row = rows + i * pitch_bytes;
    for (std::int64_t byte = 0; byte < kWidth; ++byte) {
      std::byte* const plane = planes.data() + (kLittle ? kWidth - 1 - byte : byte) * count;
      for (std::int64_t col = 0; col < count; ++col) plane[col] = row[kWidth * col + byte];
    }
    differences<std::uint8_t>(planes.data(), to + i * row_bytes, row_bytes, format.channels);
  }
}

/// Undoes the floating-point predictor: the most significant bytes of a row's elements are stored first, then
/// the next, and so on; each byte is a difference from the pixel before.
void join_bytes(std::span<std::byte> rows, const BlockFormat& format) {
  const std::int64_t row_bytes = format.row_bytes();
  const std::int64_t width = format.type.bits / 8;
  const std::int64_t count = row_bytes / width;
  std::vector<std::byte> planes(static_cast<std::size_t>(row_bytes));
  constexpr bool kLittle = std::endian::native == std::endian::little;
  for (std::int64_t at = 0; at + row_bytes <= std::ssize(rows); at += row_bytes) {
    std::byte* const row = rows.data() + at;
    prefix_sum(row, 1, row_bytes, format.channels);
    std::memcpy(planes.data(), row, planes.size());
    for (std::int64_t byte = 0; byte < width; ++byte) {
      const std::byte* const plane = planes.data() + (kLittle ? width - 1 - byte : byte) * count;
      for (std::int64_t i = 0; i < count; ++i) row[width * i + byte] = plane[i];
    }
  }
}

}  // namespace

void apply_predictor(const std::byte* rows, std::int64_t pitch_bytes, std::byte* to,
                     const BlockFormat& format) {
  const bool planes = format.predictor == PREDICTOR_FLOATINGPOINT;
  switch (word_bytes(format.type)) {
    case 1:
      return differences_of_rows<std::uint8_t>(rows, pitch_bytes, to, format);
    case 2:
      return planes ? alpha_split_bytes<2>(rows, pitch_bytes, to, format)
                    : differences_of_rows<std::uint16_t>(rows, pitch_bytes, to, format);
    case 4:
      return planes ? alpha_split_bytes<4>(rows, pitch_bytes, to, format)
                    : differences_of_rows<std::uint32_t>(rows, pitch_bytes, to, format);
    default:
      return planes ? alpha_split_bytes<8>(rows, pitch_bytes, to, format)
                    : differences_of_rows<std::uint64_t>(rows, pitch_bytes, to, format);
  }
}

void undo_predictor(std::span<std::byte> rows, const BlockFormat& format) {
  if (format.predictor == PREDICTOR_FLOATINGPOINT) return join_bytes(rows, format);
  make_native(rows, format);
  if (format.predictor != PREDICTOR_HORIZONTAL) return;
  sum_up_rows(rows, format, word_bytes(format.type));
}

}  // namespace sepconv
