// The images of an array: its last axes are rows, columns and, where there are three, channels; the others
// count images. Their pixels as views, and the types of these.
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

/// An array in memory of either kind, which somebody else owns. Strides are in bytes.
struct Array {
  std::byte* data = nullptr;
  PixelType type = PixelType::u8;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
};

/// For parts: where the input's begins (rows, columns) and the extent of the image that it is of, and the same
/// of the result's.
using Sides = std::pair<std::int64_t, std::int64_t>;
using Place = std::tuple<Sides, Sides, Sides, Sides>;

/// Images of one shape, or parts of such, and where they lie. Elements of an image's row lie next to each
/// other, and what the array `out` is written.
struct Images {
  ConstPixelView from;
  PixelView to;
  std::vector<std::int64_t> sources;  ///< offsets in bytes
  std::vector<std::int64_t> sinks;
  std::optional<Place> place;  ///< nothing of whole images

  /// Throws InvalidArgument unless both have the same axes besides those of an image.
  Images(const Array& in, const Array& out, std::size_t image_axes, std::optional<Place> place);

  std::size_t count() const noexcept { return sources.size(); }
  std::int64_t bytes() const noexcept;
  ConstRegion source(std::size_t image) const noexcept;
  Region sink(std::size_t image) const noexcept;
};

/// By its name. These two throw InvalidArgument for what is not a type of pixels.
PixelType type_named(std::string_view name);
PixelType type_of(nb::dlpack::dtype type);
nb::dlpack::dtype dtype_of(PixelType type);

/// A view of pixels as an array of rows, columns and channels, which lives no longer than they do.
nb::object array_of(const ConstPixelView& pixels);
nb::object array_of(const PixelView& pixels);
/// The other way round, for an array of rows, columns and channels in memory that somebody holds.
PixelView view_of_array(nb::handle array);

/// What a call computes in: "f32" or "f64"; nothing as the chain and the types have it.
std::optional<Arithmetic> arithmetic_of(std::optional<std::string_view> asked);

}  // namespace sepconv::python
