// Chains on arrays in host memory.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <memory_resource>
#include <vector>

#include "bindings.hpp"
#include "sepconv/sepconv.hpp"

namespace sepconv::python {
namespace {

using Input = nb::ndarray<nb::ro, nb::device::cpu>;
using Output = nb::ndarray<nb::device::cpu>;

PixelType pixel_type(nb::dlpack::dtype type) {
  if (type == nb::dtype<std::uint8_t>()) return PixelType::u8;
  if (type == nb::dtype<std::uint16_t>()) return PixelType::u16;
  if (type == nb::dtype<std::int16_t>()) return PixelType::i16;
  if (type == nb::dtype<float>()) return PixelType::f32;
  if (type == nb::dtype<double>()) return PixelType::f64;
  throw InvalidArgument("an array of this type has no pixels; give u8, u16, i16, f32 or f64");
}

/// The image at `data` that the last `axes` axes of an array make: rows and columns, and channels if there
/// are three. Their elements lie beside each other, which the package's Python has seen to.
template <class Byte, class Array>
BasicPixelView<Byte> image_of(const Array& array, Byte* data, std::size_t axes) {
  const std::size_t first = array.ndim() - axes;
  const PixelType type = pixel_type(array.dtype());
  BasicPixelView<Byte> view{data, {}, 1, type, array.stride(first) * size_of(type)};
  view.extent = {static_cast<std::int64_t>(array.shape(first)),
                 static_cast<std::int64_t>(array.shape(first + 1))};
  if (axes == 3) view.channels = static_cast<std::int64_t>(array.shape(first + 2));
  if (view.extent.rows == 1) view.pitch_bytes = view.row_bytes();
  return view;
}

/// Offsets in bytes of the images that the other axes count.
template <class Array>
std::vector<std::int64_t> offsets_of(const Array& array, std::size_t axes) {
  std::vector<std::int64_t> offsets{0};
  for (std::size_t axis = 0; axis + axes < array.ndim(); ++axis) {
    std::vector<std::int64_t> next;
    for (const std::int64_t offset : offsets)
      for (std::size_t i = 0; i < array.shape(axis); ++i)
        next.push_back(offset + static_cast<std::int64_t>(i) * array.stride(axis) *
                                    size_of(pixel_type(array.dtype())));
    offsets = std::move(next);
  }
  return offsets;
}

/// What a call computes in: as the chain and the types have it, or as the caller says.
enum Asked { kAuto = 0, kF32 = 1, kF64 = 2 };

std::optional<Arithmetic> arithmetic_of(int asked) {
  if (asked == kAuto) return std::nullopt;
  return asked == kF64 ? Arithmetic::f64 : Arithmetic::f32;
}

constexpr std::int64_t kFewBytes = 1 << 20;

/// Every image of `in` through the chain to its place in `out`, without the GIL.
void apply_to_images(const Chain& chain, const Input& in, const Output& out, std::size_t axes, int asked,
                     int threads) {
  if (axes < 2 || axes > 3 || in.ndim() < axes || in.ndim() != out.ndim())
    throw InvalidArgument("the input and the result must have the same number of axes, two or more");
  ApplyOptions options{.arithmetic = arithmetic_of(asked), .threads = threads};
  const auto from = image_of(in, static_cast<const std::byte*>(in.data()), axes);
  const auto to = image_of(out, static_cast<std::byte*>(out.data()), axes);
  // Pages of its own for a small image's scratch would take longer than the image.
  if (from.extent.rows * from.row_bytes() < kFewBytes) options.memory = std::pmr::new_delete_resource();
  const auto sources = offsets_of(in, axes), sinks = offsets_of(out, axes);
  if (sources.size() != sinks.size())
    throw InvalidArgument(
        "the input and the result must have the same axes beside rows, columns and channels");
  const nb::gil_scoped_release released;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    ConstPixelView source = from;
    PixelView sink = to;
    source.data += sources[i], sink.data += sinks[i];
    apply(chain, source, sink, options);
  }
}

}  // namespace

void bind_apply(nb::module_& module) {
  module.attr("AUTO") = int{kAuto}, module.attr("F32") = int{kF32}, module.attr("F64") = int{kF64};
  module.def("apply", apply_to_images, nb::arg("chain"), nb::arg("input").noconvert(),
             nb::arg("output").noconvert(), nb::arg("axes"), nb::arg("arithmetic"), nb::arg("threads"));
}

}  // namespace sepconv::python
