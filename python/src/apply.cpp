// Chains on arrays in host memory.
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <atomic>
#include <exception>
#include <memory_resource>
#include <thread>
#include <vector>

#include "bindings.hpp"
#include "interruptible.hpp"
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

constexpr std::int64_t kFewBytes = std::int64_t{1} << 20;
constexpr std::int64_t kManyBytes = std::int64_t{64} << 20;

/// Images of one shape, and where they lie.
struct Images {
  const Chain& chain;
  ConstPixelView from;
  PixelView to;
  std::vector<std::int64_t> sources;
  std::vector<std::int64_t> sinks;

  std::int64_t bytes() const noexcept {
    const auto one = from.extent.rows * from.row_bytes() + to.extent.rows * to.row_bytes();
    return one * static_cast<std::int64_t>(sources.size());
  }
  void compute(std::size_t image, const ApplyOptions& options) const {
    ConstPixelView source = from;
    PixelView sink = to;
    source.data += sources[image], sink.data += sinks[image];
    apply(chain, source, sink, options);
  }
};

/// In so many threads, each computing image after image. The first failure is thrown when all have ended.
void compute_side_by_side(const Images& images, ApplyOptions options, std::size_t threads) {
  options.threads = 1;
  std::atomic<std::size_t> next = 0;
  std::vector<std::exception_ptr> failed(threads);
  std::vector<std::jthread> others;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    others.emplace_back([&, thread] {
      try {
        for (std::size_t i = next++; i < images.sources.size(); i = next++) images.compute(i, options);
      } catch (...) {
        failed[thread] = std::current_exception();
        next = images.sources.size();
      }
    });
  }
  others.clear();
  for (const std::exception_ptr& one : failed)
    if (one) std::rethrow_exception(one);
}

/// Many images side by side; a few, or small ones, one after another, each in as many threads as are worth
/// it.
void compute(const Images& images, const ApplyOptions& options) {
  const std::size_t threads =
      options.threads > 0 ? static_cast<std::size_t>(options.threads) : std::thread::hardware_concurrency();
  if (threads > 1 && images.sources.size() >= 2 * threads && images.bytes() >= kFewBytes)
    return compute_side_by_side(images, options, threads);
  for (std::size_t i = 0; i < images.sources.size(); ++i) images.compute(i, options);
}

/// Every image of `in` through the chain to its place in `out`, without the GIL.
void apply_to_images(const Chain& chain, const Input& in, const Output& out, std::size_t axes, int asked,
                     int threads) {
  if (axes < 2 || axes > 3 || in.ndim() < axes || in.ndim() != out.ndim())
    throw InvalidArgument("the input and the result must have the same number of axes, two or more");
  const Images images{chain, image_of(in, static_cast<const std::byte*>(in.data()), axes),
                      image_of(out, static_cast<std::byte*>(out.data()), axes), offsets_of(in, axes),
                      offsets_of(out, axes)};
  if (images.sources.size() != images.sinks.size())
    throw InvalidArgument(
        "the input and the result must have the same axes beside rows, columns and channels");
  ApplyOptions options{.arithmetic = arithmetic_of(asked), .threads = threads};
  // Pages of its own for a small image's scratch would take longer than the image.
  if (images.from.extent.rows * images.from.row_bytes() < kFewBytes)
    options.memory = std::pmr::new_delete_resource();
  if (images.bytes() >= kManyBytes) {
    return run_interruptible([&](const std::stop_token& stop) {
      options.stop = stop;
      compute(images, options);
    });
  }
  const nb::gil_scoped_release released;
  compute(images, options);
}

}  // namespace

void bind_apply(nb::module_& module) {
  module.attr("AUTO") = int{kAuto}, module.attr("F32") = int{kF32}, module.attr("F64") = int{kF64};
  module.def("apply", apply_to_images, nb::arg("chain"), nb::arg("input").noconvert(),
             nb::arg("output").noconvert(), nb::arg("axes"), nb::arg("arithmetic"), nb::arg("threads"));
}

}  // namespace sepconv::python
