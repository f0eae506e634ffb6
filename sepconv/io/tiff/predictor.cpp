#include "sepconv/io/tiff/predictor.hpp"

#include <tiff.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#include "sepconv/io/tiff/block_pixels.hpp"

namespace sepconv {
namespace {

/// Each element is the difference from the one `step` before it, modulo its width.
template <class Word>
void add_up(std::byte* row, std::int64_t count, std::int64_t step) noexcept {
  auto* const words = reinterpret_cast<Word*>(row);
  for (std::int64_t i = step; i < count; ++i) words[i] = static_cast<Word>(words[i] + words[i - step]);
}

template <class Word>
void add_up_rows(std::span<std::byte> rows, const BlockFormat& format) noexcept {
  const std::int64_t row_bytes = format.row_bytes();
  for (std::int64_t at = 0; at + row_bytes <= std::ssize(rows); at += row_bytes)
    add_up<Word>(rows.data() + at, row_bytes / static_cast<std::int64_t>(sizeof(Word)), format.channels);
}

template <class Word>
void differences(const std::byte* from, std::byte* to, std::int64_t count, std::int64_t step) noexcept {
  const auto* const values = reinterpret_cast<const Word*>(from);
  auto* const out = reinterpret_cast<Word*>(to);
  std::copy_n(values, std::min(step, count), out);
  for (std::int64_t i = step; i < count; ++i) out[i] = static_cast<Word>(values[i] - values[i - step]);
}

template <class Word>
void differences_of_rows(std::span<const std::byte> rows, std::span<std::byte> to,
                         const BlockFormat& format) noexcept {
  const std::int64_t row_bytes = format.row_bytes();
  for (std::int64_t at = 0; at + row_bytes <= std::ssize(rows); at += row_bytes) {
    differences<Word>(rows.data() + at, to.data() + at, row_bytes / static_cast<std::int64_t>(sizeof(Word)),
                      format.channels);
  }
}

/// The way back of join_bytes.
template <std::int64_t kWidth>
void split_bytes(std::span<const std::byte> rows, std::span<std::byte> to, const BlockFormat& format) {
  const std::int64_t row_bytes = format.row_bytes();
  const std::int64_t count = row_bytes / kWidth;
  std::vector<std::byte> planes(static_cast<std::size_t>(row_bytes));
  constexpr bool kLittle = std::endian::native == std::endian::little;
  for (std::int64_t at = 0; at + row_bytes <= std::ssize(rows); at += row_bytes) {
    const std::byte* const row = rows.data() + at;
    for (std::int64_t byte = 0; byte < kWidth; ++byte) {
      std::byte* const plane = planes.data() + (kLittle ? kWidth - 1 - byte : byte) * count;
      for (std::int64_t i = 0; i < count; ++i) plane[i] = row[kWidth * i + byte];
    }
    differences<std::uint8_t>(planes.data(), to.data() + at, row_bytes, format.channels);
  }
}

/// The most significant bytes of a row's elements come first, then the next, and so on; each byte is a
/// difference from the pixel before.
void join_bytes(std::span<std::byte> rows, const BlockFormat& format) {
  const std::int64_t row_bytes = format.row_bytes();
  const std::int64_t width = format.type.bits / 8;
  const std::int64_t count = row_bytes / width;
  std::vector<std::byte> planes(static_cast<std::size_t>(row_bytes));
  constexpr bool kLittle = std::endian::native == std::endian::little;
  for (std::int64_t at = 0; at + row_bytes <= std::ssize(rows); at += row_bytes) {
    std::byte* const row = rows.data() + at;
    add_up<std::uint8_t>(row, row_bytes, format.channels);
    std::memcpy(planes.data(), row, planes.size());
    for (std::int64_t byte = 0; byte < width; ++byte) {
      const std::byte* const plane = planes.data() + (kLittle ? width - 1 - byte : byte) * count;
      for (std::int64_t i = 0; i < count; ++i) row[width * i + byte] = plane[i];
    }
  }
}

}  // namespace

void apply_predictor(std::span<const std::byte> rows, std::span<std::byte> to, const BlockFormat& format) {
  const bool planes = format.predictor == PREDICTOR_FLOATINGPOINT;
  switch (format.type.bits) {
    case 8:
      return differences_of_rows<std::uint8_t>(rows, to, format);
    case 16:
      return planes ? split_bytes<2>(rows, to, format) : differences_of_rows<std::uint16_t>(rows, to, format);
    case 32:
      return planes ? split_bytes<4>(rows, to, format) : differences_of_rows<std::uint32_t>(rows, to, format);
    default:
      return planes ? split_bytes<8>(rows, to, format) : differences_of_rows<std::uint64_t>(rows, to, format);
  }
}

void undo_predictor(std::span<std::byte> rows, const BlockFormat& format) {
  if (format.predictor == PREDICTOR_FLOATINGPOINT) return join_bytes(rows, format);
  make_native(rows, format);
  if (format.predictor != PREDICTOR_HORIZONTAL) return;
  switch (format.type.bits) {
    case 8:
      return add_up_rows<std::uint8_t>(rows, format);
    case 16:
      return add_up_rows<std::uint16_t>(rows, format);
    case 32:
      return add_up_rows<std::uint32_t>(rows, format);
    default:
      return add_up_rows<std::uint64_t>(rows, format);
  }
}

}  // namespace sepconv
