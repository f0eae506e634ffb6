// The shape of an image (ImageSpec), and non-owning views of pixels in memory.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

#include "core/geometry.hpp"
#include "core/pixel_type.hpp"

namespace sepconv {

/// Shape and type of an image: rows x cols pixels of `channels` interleaved elements each.
struct ImageSpec {
  Extent extent;
  std::int64_t channels = 1;
  PixelType type = PixelType::u8;

  std::int64_t pixel_bytes() const noexcept { return channels * size_of(type); }
  std::int64_t row_bytes() const noexcept { return extent.cols * pixel_bytes(); }
  std::int64_t bytes() const noexcept { return extent.rows * row_bytes(); }
  friend bool operator==(const ImageSpec&, const ImageSpec&) = default;
};

/// Throws std::out_of_range; called if `part` is not inside a view of `whole`.
[[noreturn]] void throw_out_of_view(const Rect& part, Extent whole);

/// Non-owning view of rows x cols pixels, row-major, channels interleaved, `pitch_bytes` from row to row
/// (at least cols * channels * size_of(type)). Data and pitch are aligned to the element size.
/// `Byte` is std::byte or const std::byte.
template <class Byte>
struct BasicPixelView {
  Byte* data = nullptr;
  Extent extent;
  std::int64_t channels = 1;
  PixelType type = PixelType::u8;
  std::int64_t pitch_bytes = 0;

  template <class T>
  using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;

  std::int64_t pixel_bytes() const noexcept { return channels * size_of(type); }
  std::int64_t row_bytes() const noexcept { return extent.cols * pixel_bytes(); }
  /// Elements (not pixels) in a row.
  std::int64_t row_elements() const noexcept { return extent.cols * channels; }
  bool contiguous() const noexcept { return pitch_bytes == row_bytes() || extent.rows <= 1; }

  Byte* row_data(std::int64_t row) const noexcept { return data + row * pitch_bytes; }

  template <class T>
  Element<T>* row(std::int64_t row) const noexcept {
    assert(pixel_type_of<T>() == type);
    return reinterpret_cast<Element<T>*>(row_data(row));
  }

  /// The part of this view at `rect`, which is relative to the view's own first pixel. Throws
  /// std::out_of_range for a rectangle outside the view.
  BasicPixelView crop(const Rect& rect) const {
    if (!Rect::whole(extent).contains(rect)) throw_out_of_view(rect, extent);
    return {row_data(rect.row) + rect.col * pixel_bytes(), rect.extent(), channels, type, pitch_bytes};
  }

  operator BasicPixelView<const std::byte>() const noexcept {
    return {data, extent, channels, type, pitch_bytes};
  }
};

using PixelView = BasicPixelView<std::byte>;
using ConstPixelView = BasicPixelView<const std::byte>;

/// View of the densely packed pixels of an image in memory of spec.bytes().
inline PixelView dense_view(std::byte* data, const ImageSpec& spec) noexcept {
  return {data, spec.extent, spec.channels, spec.type, spec.row_bytes()};
}
/// The same for a part of an image with separate memory.
inline PixelView dense_view(std::byte* data, const ImageSpec& image, Extent part) noexcept {
  return dense_view(data, {part, image.channels, image.type});
}

/// View of a typed array: rows x cols pixels of `channels`; `pitch_bytes` 0 means densely packed.
template <class T>
auto view_of(T* data, Extent extent, std::int64_t channels = 1, std::int64_t pitch_bytes = 0) {
  using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
  const auto row_bytes = extent.cols * channels * static_cast<std::int64_t>(sizeof(T));
  return BasicPixelView<Byte>{reinterpret_cast<Byte*>(data), extent, channels,
                              pixel_type_of<std::remove_const_t<T>>(),
                              pitch_bytes == 0 ? row_bytes : pitch_bytes};
}

/// Pixels of the rectangle `rect` of an image of extent `image`: a kernel needs both to handle borders.
/// `pixels.extent` equals `rect.extent()`; `rect` is inside the image.
template <class Byte>
struct BasicRegion {
  BasicPixelView<Byte> pixels;
  Rect rect;
  Extent image;
  bool past_caches = false;  ///< for output: the pixels are not read soon, so stores may bypass the caches

  static BasicRegion whole(const BasicPixelView<Byte>& pixels) noexcept {
    return {pixels, Rect::whole(pixels.extent), pixels.extent};
  }

  /// The part of this region at `part`, given in the image's coordinates. Throws std::out_of_range for a part
  /// outside the region.
  BasicRegion crop(const Rect& part) const {
    return {pixels.crop({part.row - rect.row, part.col - rect.col, part.rows, part.cols}), part, image,
            past_caches};
  }

  operator BasicRegion<const std::byte>() const noexcept { return {pixels, rect, image}; }
};

using Region = BasicRegion<std::byte>;
using ConstRegion = BasicRegion<const std::byte>;

/// Copies pixels of the same extent, channels and type, row by row.
void copy_pixels(const ConstPixelView& from, const PixelView& to) noexcept;

}  // namespace sepconv
