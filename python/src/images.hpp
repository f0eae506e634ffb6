// The images of an array: its last two or three axes are rows, columns and optionally channels; the others
// count images. Views of their pixels, and conversions of types.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "sepconv/sepconv.hpp"

namespace sepconv::python {

/// A non-owning array in host or device memory. Strides are in bytes.
struct Array {
  std::byte* data = nullptr;
  PixelType type = PixelType::u8;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

/// For parts of images: offset (rows, columns) of the input part, extent of its image, and the same for the
/// result.
using RowsCols = std::pair<std::int64_t, std::int64_t>;
using PartPosition = std::tuple<RowsCols, RowsCols, RowsCols, RowsCols>;

/// Images of one shape, or parts of them, in two arrays. Elements of a row are contiguous; `out` is written.
struct Images {
  ConstPixelView first_source;
  PixelView first_sink;
  std::vector<std::int64_t> sources;  ///< offsets in bytes
  std::vector<std::int64_t> sinks;
  std::optional<PartPosition> part_position;  ///< empty for whole images

  /// Throws InvalidArgument unless both have the same axes besides those of an image.
  Images(const Array& in, const Array& out, std::size_t image_axes, std::optional<PartPosition> part);

  std::size_t count() const noexcept { return sources.size(); }
  std::int64_t bytes() const noexcept;
  ConstRegion source(std::size_t image) const noexcept;
  Region sink(std::size_t image) const noexcept;
};

/// The pixel type with this name. These two functions throw InvalidArgument for other types.
PixelType type_named(std::string_view name);
PixelType type_of(nb::dlpack::dtype type);
nb::dlpack::dtype dtype_of(PixelType type);

/// A non-owning array of rows, columns and channels of a view; the pixels must outlive it.
nb::object array_of(const ConstPixelView& pixels);
nb::object array_of(const PixelView& pixels);
/// A view of an array of rows, columns and channels; the caller keeps the array alive.
PixelView view_of_array(nb::handle array);

/// The arithmetic for "f32" or "f64"; empty: chosen by the chain and the types.
std::optional<Arithmetic> arithmetic_of(std::optional<std::string_view> asked);

}  // namespace sepconv::python
