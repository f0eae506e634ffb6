#include "sepconv/io/tiff/block_pixels.hpp"

#include <tiffio.h>

#include <bit>
#include <cstring>

namespace sepconv {
namespace {

// One element of `from` to one of every `to_step`, or the other way round.
template <class T>
void copy_strided(const T* from, std::int64_t from_step, T* to, std::int64_t to_step,
                  std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
}

}  // namespace

void copy_from_block(const std::byte* block, std::int64_t pitch_bytes, std::int64_t channel,
                     const PixelView& to) noexcept {
  if (channel == kAllChannels) {
    copy_pixels({block, to.extent, to.channels, to.type, pitch_bytes}, to);
    return;
  }
  visit_pixel_type(to.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < to.extent.rows; ++row) {
      copy_strided(reinterpret_cast<const T*>(block + row * pitch_bytes), 1,
                   to.template row<T>(row) + channel, to.channels, to.extent.cols);
    }
  });
}

void copy_to_block(const ConstPixelView& from, std::int64_t channel, std::byte* block,
                   std::int64_t pitch_bytes) noexcept {
  if (channel == kAllChannels) {
    copy_pixels(from, {block, from.extent, from.channels, from.type, pitch_bytes});
    return;
  }
  visit_pixel_type(from.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < from.extent.rows; ++row) {
      copy_strided(from.template row<T>(row) + channel, from.channels,
                   reinterpret_cast<T*>(block + row * pitch_bytes), 1, from.extent.cols);
    }
  });
}

void pad_block(std::byte* block, const BlockFormat& format, Extent filled) noexcept {
  const std::int64_t row_bytes = format.row_bytes();
  const auto pixel_bytes = static_cast<std::size_t>(format.channels * size_of(format.type));
  if (filled.cols < format.extent.cols) {
    for (std::int64_t row = 0; row < filled.rows; ++row) {
      std::byte* end = block + (row + 1) * row_bytes;
      for (std::byte* to = block + row * row_bytes + filled.cols * static_cast<std::int64_t>(pixel_bytes);
           to < end; to += pixel_bytes) {
        std::memcpy(to, to - pixel_bytes, pixel_bytes);
      }
    }
  }
  const std::byte* last = block + (filled.rows - 1) * row_bytes;
  for (std::int64_t row = filled.rows; row < format.extent.rows; ++row) {
    std::memcpy(block + row * row_bytes, last, static_cast<std::size_t>(row_bytes));
  }
}

void clear_pixels(const PixelView& pixels, std::int64_t channel) noexcept {
  for (std::int64_t row = 0; row < pixels.extent.rows; ++row) {
    if (channel == kAllChannels) {
      std::memset(pixels.row_data(row), 0, static_cast<std::size_t>(pixels.row_bytes()));
      continue;
    }
    const auto element_bytes = static_cast<std::size_t>(size_of(pixels.type));
    std::byte* first = pixels.row_data(row) + channel * size_of(pixels.type);
    for (std::int64_t col = 0; col < pixels.extent.cols; ++col)
      std::memset(first + col * pixels.pixel_bytes(), 0, element_bytes);
  }
}

bool is_native(const BlockFormat& format) noexcept {
  const bool swapped =
      format.big_endian != (std::endian::native == std::endian::big) && size_of(format.type) > 1;
  return !swapped && format.fill_order == FILLORDER_MSB2LSB;
}

void make_native(std::span<std::byte> bytes, const BlockFormat& format) noexcept {
  if (is_native(format)) return;
  if (format.fill_order != FILLORDER_MSB2LSB) {
    TIFFReverseBits(reinterpret_cast<std::uint8_t*>(bytes.data()), static_cast<tmsize_t>(bytes.size()));
  }
  if (format.big_endian == (std::endian::native == std::endian::big)) return;
  const auto count = static_cast<tmsize_t>(static_cast<std::int64_t>(bytes.size()) / size_of(format.type));
  switch (size_of(format.type)) {
    case 2:
      TIFFSwabArrayOfShort(reinterpret_cast<std::uint16_t*>(bytes.data()), count);
      break;
    case 4:
      TIFFSwabArrayOfLong(reinterpret_cast<std::uint32_t*>(bytes.data()), count);
      break;
    case 8:
      TIFFSwabArrayOfLong8(reinterpret_cast<std::uint64_t*>(bytes.data()), count);
      break;
    default:
      break;
  }
}

}  // namespace sepconv
