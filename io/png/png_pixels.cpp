#include "io/png/png_pixels.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>

#include "core/memory.hpp"
#include "io/deflate/deflater.hpp"
#include "io/png/png_coder.hpp"
#include "io/png/png_filters.hpp"
#include "io/sample_conversion.hpp"

namespace sepconv {
namespace {

/// Approximate size of a part, the unit in which rows are compressed.
constexpr std::int64_t kPartBytes = std::int64_t{1} << 18;

/// Maximum size of an IDAT chunk: its length has 31 bits, and rows can be longer.
constexpr std::size_t kMaxPixelBytes = std::size_t{1} << 30;

std::int64_t part_rows(std::int64_t row_bytes) {
  return std::max<std::int64_t>(1, kPartBytes / (row_bytes + 1));
}

void put_big32(std::uint32_t value, std::byte* to) noexcept {
  if constexpr (std::endian::native == std::endian::little) value = __builtin_bswap32(value);
  std::memcpy(to, &value, sizeof value);
}

/// Length, type, data, check (PNG, third edition, 5.3).
void write_chunk(std::string_view type, std::span<const std::byte> data, OutputBytes& file) {
  std::byte head[8], check[4];
  put_big32(static_cast<std::uint32_t>(data.size()), head);
  std::memcpy(head + 4, type.data(), 4);
  std::uint32_t crc = libdeflate_crc32(0, head + 4, 4);
  // libdeflate_crc32() returns 0 for null
  if (!data.empty()) crc = libdeflate_crc32(crc, data.data(), data.size());
  put_big32(crc, check);
  file.write(head);
  file.write(data);
  file.write(check);
}

void copy_in_png_order(const std::byte* from, PixelType type, std::byte* to, std::int64_t bytes) noexcept {
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
  if (std::endian::native == std::endian::little) swap_elements(type, {to, static_cast<std::size_t>(bytes)});
}

}  // namespace

std::int64_t png_pixels_bytes(std::int64_t row_bytes) noexcept {
  const std::int64_t part = part_rows(row_bytes) * (row_bytes + 1);
  return 2 * (row_bytes + 8) + 3 * PngFilters::kRoom + part + PngCoder::memory_bytes(part);
}

void write_png_pixels(const PixelView& image, int level, OutputBytes& file) {
  const std::int64_t pixel_bytes = image.channels * size_of(image.type);
  const std::int64_t row_bytes = image.extent.cols * pixel_bytes;
  const std::int64_t rows_per_part = part_rows(row_bytes);
  PngFilters filters(row_bytes, pixel_bytes);
  const std::int64_t part_bytes = rows_per_part * (row_bytes + 1);
  Buffer part(part_bytes + PngFilters::kRoom);
  PngCoder coder(level, part_bytes);
  for (std::int64_t row = 0; row < image.extent.rows; row += rows_per_part) {
    const std::int64_t rows = std::min(rows_per_part, image.extent.rows - row);
    for (std::int64_t i = 0; i < rows; ++i) {
      copy_in_png_order(image.row_data(row + i), image.type, filters.row(), row_bytes);
      filters.filter_to(part.data() + i * (row_bytes + 1));
    }
    const auto bytes = part.bytes().first(static_cast<std::size_t>(rows * (row_bytes + 1)));
    for (std::span rest = coder.code(bytes, {pixel_bytes, row_bytes + 1}, row + rows == image.extent.rows);
         !rest.empty();) {
      const std::span chunk = rest.first(std::min(rest.size(), kMaxPixelBytes));
      write_chunk("IDAT", chunk, file);
      rest = rest.subspan(chunk.size());
    }
  }
  write_chunk("IEND", {}, file);
}

std::vector<std::byte> encode_png_in_memory(const PixelView& image) {
  constexpr unsigned char kSignature[] = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1A, '\n'};
  constexpr std::byte kGrey{0}, kColour{2}, kColourAndAlpha{6};
  std::byte header[13] = {};  // width, height, bits, kind of colour; deflate, filters, no interlacing
  put_big32(static_cast<std::uint32_t>(image.extent.cols), header);
  put_big32(static_cast<std::uint32_t>(image.extent.rows), header + 4);
  header[8] = static_cast<std::byte>(8 * size_of(image.type));
  header[9] = image.channels == 1 ? kGrey : image.channels == 3 ? kColour : kColourAndAlpha;
  std::vector<std::byte> file;
  OutputBytes bytes(file);
  bytes.write(std::as_bytes(std::span(kSignature)));
  write_chunk("IHDR", header, bytes);
  write_png_pixels(image, deflate::kAutomatic, bytes);
  bytes.flush();
  return file;
}

}  // namespace sepconv
