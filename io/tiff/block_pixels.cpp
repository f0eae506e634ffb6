#include "io/tiff/block_pixels.hpp"

#include <tiffio.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "io/sample_conversion.hpp"

namespace sepconv {
namespace {

// Copies elements between different strides.
template <class T>
void copy_strided(const T* from, std::int64_t from_step, T* to, std::int64_t to_step,
                  std::int64_t count) noexcept {
  for (std::int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
}

}  // namespace

std::optional<ElementPosition> copy_from_block(const std::byte* block, SampleType type,
                                               std::int64_t pitch_bytes, std::int64_t channel,
                                               const PixelView& to, int first_bit) noexcept {
  const bool all = channel == kAllChannels;
  if (!type.is_pixels()) {
    const std::int64_t elements = all ? to.channels / type.parts() : 1;
    const std::int64_t count = to.extent.cols * elements;
    for (std::int64_t row = 0; row < to.extent.rows; ++row) {
      std::byte* const first = to.row_data(row) + (all ? 0 : channel * type.parts() * size_of(to.type));
      const std::int64_t done = load_elements(type, {block + row * pitch_bytes, 1, first_bit}, count, first,
                                              all ? type.parts() : to.channels);
      if (done < count) return ElementPosition{row, done / elements, all ? done % elements : channel};
    }
  } else if (all) {
    copy_pixels({block, to.extent, to.channels, to.type, pitch_bytes}, to);
  } else {
    visit_pixel_type(to.type, [&]<class T>(std::type_identity<T>) {
      for (std::int64_t row = 0; row < to.extent.rows; ++row) {
        copy_strided(reinterpret_cast<const T*>(block + row * pitch_bytes), 1,
                     to.template row<T>(row) + channel, to.channels, to.extent.cols);
      }
    });
  }
  return std::nullopt;
}

void copy_to_block(const ConstPixelView& from, SampleType type, std::int64_t channel, std::byte* block,
                   std::int64_t pitch_bytes) noexcept {
  const bool all = channel == kAllChannels;
  if (!type.is_pixels()) {
    const std::int64_t elements = all ? from.channels / type.parts() : 1;
    for (std::int64_t row = 0; row < from.extent.rows; ++row) {
      store_elements(type, from.row_data(row) + (all ? 0 : channel * type.parts() * size_of(from.type)),
                     all ? type.parts() : from.channels, from.extent.cols * elements,
                     block + row * pitch_bytes);
    }
  } else if (all) {
    copy_pixels(from, {block, from.extent, from.channels, from.type, pitch_bytes});
  } else {
    visit_pixel_type(from.type, [&]<class T>(std::type_identity<T>) {
      for (std::int64_t row = 0; row < from.extent.rows; ++row) {
        copy_strided(from.template row<T>(row) + channel, from.channels,
                     reinterpret_cast<T*>(block + row * pitch_bytes), 1, from.extent.cols);
      }
    });
  }
}

void pad_block(std::byte* block, const BlockFormat& format, Extent filled) noexcept {
  const std::int64_t row_bytes = format.row_bytes();
  const auto pixel_bytes = static_cast<std::size_t>(format.type.bytes_of(format.channels));
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

void clear_pixels(const PixelView& pixels, SampleType type, std::int64_t channel, double value) noexcept {
  const std::int64_t parts = channel == kAllChannels ? pixels.channels : type.parts();
  const std::int64_t first = channel == kAllChannels ? 0 : channel * parts;
  visit_pixel_type(pixels.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < pixels.extent.rows; ++row) {
      T* const elements = pixels.row<T>(row) + first;
      if (parts == pixels.channels) {
        std::fill_n(elements, pixels.row_elements(), static_cast<T>(value));
        continue;
      }
      for (std::int64_t col = 0; col < pixels.extent.cols; ++col)
        std::fill_n(elements + col * pixels.channels, parts, static_cast<T>(value));
    }
  });
}

void shift_ab(const BlockFormat& format, std::int64_t channel, std::int64_t count,
              std::byte* elements) noexcept {
  constexpr std::byte kSign{0x80};
  const std::int64_t bytes = format.type.bytes_of(1);
  const std::int64_t top = std::endian::native == std::endian::little ? bytes - 1 : 0;
  const auto is_signed = [](std::int64_t index) { return index == 1 || index == 2; };
  for (std::int64_t i = 0; i < count; ++i) {
    if (is_signed(channel == kAllChannels ? i % format.channels : channel))
      elements[i * bytes + top] ^= kSign;
  }
}

void make_native(std::span<std::byte> bytes, const BlockFormat& format) noexcept {
  if (format.fill_order != FILLORDER_MSB2LSB) {
    TIFFReverseBits(reinterpret_cast<std::uint8_t*>(bytes.data()), static_cast<tmsize_t>(bytes.size()));
  }
  if (format.big_endian != (std::endian::native == std::endian::big)) swap_elements(format.type, bytes);
}

}  // namespace sepconv
