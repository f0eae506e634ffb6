#include "sepconv/io/tiff/predictor.hpp"

#include <tiff.h>

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
