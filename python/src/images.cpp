#include "images.hpp"

#include <algorithm>
#include <string>

namespace sepconv::python {
namespace {

template <class Byte>
BasicPixelView<Byte> first_image(const Array& array, std::size_t axes) {
  const std::size_t first = array.shape.size() - axes;
  BasicPixelView<Byte> view{
      array.data, {array.shape[first], array.shape[first + 1]}, 1, array.type, array.strides[first]};
  if (axes == 3) view.channels = array.shape[first + 2];
  if (view.extent.rows == 1) view.pitch_bytes = view.row_bytes();
  return view;
}

std::vector<std::int64_t> offsets_of(const Array& array, std::size_t image_axes) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t axis = 0; axis + image_axes < array.shape.size(); ++axis) {
    std::vector<std::int64_t> next;
    for (const std::int64_t offset : offsets)
      for (std::int64_t i = 0; i < array.shape[axis]; ++i) next.push_back(offset + i * array.strides[axis]);
    offsets = std::move(next);
  }
  return offsets;
}

void check_axes(const Array& in, const Array& out, std::size_t image_axes) {
  const std::size_t axes = in.shape.size();
  const bool fits = (image_axes == 2 || image_axes == 3) && axes >= image_axes && out.shape.size() == axes;
  if (!fits) throw InvalidArgument("the input and the result must have the same number of axes, two or more");
}

template <class Byte>
BasicRegion<Byte> region_at(const BasicPixelView<Byte>& pixels, RowsCols position, RowsCols image) {
  const auto [row, col] = position;
  return {pixels, {row, col, pixels.extent.rows, pixels.extent.cols}, {image.first, image.second}};
}

template <class Array, class View>
nb::object make_array(const View& pixels) {
  const std::size_t shape[] = {static_cast<std::size_t>(pixels.extent.rows),
                               static_cast<std::size_t>(pixels.extent.cols),
                               static_cast<std::size_t>(pixels.channels)};
  const std::int64_t strides[] = {pixels.pitch_bytes / size_of(pixels.type), pixels.channels, 1};
  return nb::cast(Array(pixels.data, 3, shape, nb::handle(), strides, dtype_of(pixels.type)),
                  nb::rv_policy::reference);
}

}  // namespace

Images::Images(const Array& in, const Array& out, std::size_t image_axes, std::optional<PartPosition> part)
    : part_position(part) {
  check_axes(in, out, image_axes);
  first_source = first_image<const std::byte>(in, image_axes),
  first_sink = first_image<std::byte>(out, image_axes);
  sources = offsets_of(in, image_axes), sinks = offsets_of(out, image_axes);
  if (sources.size() != sinks.size())
    throw InvalidArgument(
        "the input and the result must have the same axes besides rows, columns and channels");
}

std::int64_t Images::bytes() const noexcept {
  return (first_source.extent.rows * first_source.row_bytes() +
          first_sink.extent.rows * first_sink.row_bytes()) *
         static_cast<std::int64_t>(count());
}

ConstRegion Images::source(std::size_t image) const noexcept {
  ConstPixelView view = first_source;
  view.data += sources[image];
  return part_position ? region_at(view, std::get<0>(*part_position), std::get<1>(*part_position))
                       : ConstRegion::whole(view);
}

Region Images::sink(std::size_t image) const noexcept {
  PixelView view = first_sink;
  view.data += sinks[image];
  return part_position ? region_at(view, std::get<2>(*part_position), std::get<3>(*part_position))
                       : Region::whole(view);
}

PixelType type_named(std::string_view name) {
  if (const auto type = parse_pixel_type(name)) return *type;
  throw InvalidArgument("'" + std::string(name) + "' is not a pixel type; give u8, u16, i16, f32 or f64");
}

PixelType type_of(nb::dlpack::dtype type) {
  const auto* const found =
      std::ranges::find_if(kPixelTypes, [&](PixelType candidate) { return dtype_of(candidate) == type; });
  if (found != std::end(kPixelTypes)) return *found;
  throw InvalidArgument("an array of this type has no pixels; give u8, u16, i16, f32 or f64");
}

nb::dlpack::dtype dtype_of(PixelType type) {
  return visit_pixel_type(type, [](auto tag) { return nb::dtype<typename decltype(tag)::type>(); });
}

nb::object array_of(const ConstPixelView& pixels) {
  return make_array<nb::ndarray<nb::numpy, nb::ro>>(pixels);
}
nb::object array_of(const PixelView& pixels) { return make_array<nb::ndarray<nb::numpy>>(pixels); }

PixelView view_of_array(nb::handle array) {
  const auto pixels = nb::cast<nb::ndarray<nb::ro, nb::device::cpu>>(array);
  const PixelType type = type_of(pixels.dtype());
  if (pixels.ndim() != 3) throw InvalidArgument("an array of rows, columns and channels was expected");
  const auto side = [&](std::size_t axis) { return static_cast<std::int64_t>(pixels.shape(axis)); };
  PixelView view{
      static_cast<std::byte*>(const_cast<void*>(pixels.data())), {side(0), side(1)}, side(2), type, 0};
  view.pitch_bytes = side(0) > 1 ? pixels.stride(0) * size_of(type) : view.row_bytes();
  return view;
}

std::optional<Arithmetic> arithmetic_of(std::optional<std::string_view> asked) {
  if (!asked) return std::nullopt;
  return *asked == "f64" ? Arithmetic::f64 : Arithmetic::f32;
}

}  // namespace sepconv::python
