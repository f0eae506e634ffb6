#include "bench/conv/variants.hpp"

#include <fmt/format.h>

#include "bench/backend.hpp"
#include "core/error.hpp"

namespace sepconv {
namespace {

/// A grid has at most 65535 blocks of 32 rows along y; the kernels index columns with 32-bit integers.
constexpr std::int64_t kMaxRows = std::int64_t{65535} * 32;
constexpr std::int64_t kMaxCols = std::int64_t{1} << 30;

std::vector<double> checked_taps(std::vector<double> taps) {
  const auto count = static_cast<std::int64_t>(taps.size());
  if (count % 2 == 0 || count > 2 * kMaxVariantRadius + 1) {
    throw InvalidArgument(
        fmt::format("the benchmark's kernels cannot apply {} taps: give an odd number up to {}", count,
                    2 * kMaxVariantRadius + 1));
  }
  return taps;
}

Extent source_extent(Extent image, std::int64_t row_radius) {
  return {image.rows, image.cols + 2 * row_radius};
}
Extent filtered_extent(Extent image, std::int64_t col_radius) {
  return {image.rows + 2 * col_radius, image.cols};
}

}  // namespace

VariantTaps::VariantTaps(std::vector<double> taps, Arithmetic arithmetic)
    : taps_(checked_taps(std::move(taps))),
      type_(pixel_type_of(arithmetic)),
      device_(count() * size_of(type_), device_resource()) {
  const Stream stream;
  visit_arithmetic(arithmetic, [&]<class A>(std::type_identity<A>) {
    const std::vector<A> rounded(taps_.begin(), taps_.end());
    copy_rows(device_.data(), device_.size(), rounded.data(), device_.size(), device_.size(), 1,
              stream.get());
    stream.synchronize();
  });
}

void check_convolve_pass(ConvPass pass, const VariantTaps& taps, const ConstPixelView& in,
                         const PixelView& out) {
  const Extent required = pass == ConvPass::rows ? source_extent(out.extent, taps.radius())
                                                 : filtered_extent(out.extent, taps.radius());
  if (in.extent != required || in.type != taps.type() || out.type != taps.type() || in.channels != 1 ||
      out.channels != 1) {
    throw InvalidArgument(fmt::format(
        "a pass of {} taps over {} x {} pixels needs {} x {} of one channel, all {}", taps.count(),
        out.extent.rows, out.extent.cols, required.rows, required.cols, name_of(taps.type())));
  }
  if (out.extent.rows > kMaxRows || out.extent.cols > kMaxCols) {
    throw InvalidArgument(
        fmt::format("the benchmark's kernels cannot filter {} rows x {} columns: give up to {} x {}",
                    out.extent.rows, out.extent.cols, kMaxRows, kMaxCols));
  }
}

void convolve_pass(ConvVariant variant, ConvPass pass, const VariantTaps& taps, const ConstPixelView& in,
                   const PixelView& out, DeviceStream stream) {
  check_convolve_pass(pass, taps, in, out);
  if (!out.extent.empty()) bench_backend().conv_pass(variant, pass, taps, in, out, stream);
}

void fill_device_memory(std::byte* memory, int value, std::int64_t bytes, DeviceStream stream) {
  bench_backend().fill(memory, value, bytes, stream);
}

VariantConvolver::VariantConvolver(const SeparableTaps& taps, Extent image, Arithmetic arithmetic)
    : row_taps_(taps.row, arithmetic), col_taps_(taps.col, arithmetic), image_(image) {
  const auto allocate = [&](Extent extent, Buffer& memory) {
    const ImageSpec spec{extent, 1, row_taps_.type()};
    memory = Buffer(spec.bytes(), device_resource());
    return dense_view(memory.data(), spec);
  };
  source_ = allocate(source_extent(image, row_taps_.radius()), source_memory_);
  filtered_ = allocate(filtered_extent(image, col_taps_.radius()), filtered_memory_);
  const Stream stream;
  fill_device_memory(source_memory_.data(), 0, source_memory_.size(), stream.get());
  fill_device_memory(filtered_memory_.data(), 0, filtered_memory_.size(), stream.get());
  stream.synchronize();
}

std::int64_t VariantConvolver::device_bytes(std::int64_t row_radius, std::int64_t col_radius, Extent image,
                                            Arithmetic arithmetic) {
  return (source_extent(image, row_radius).area() + filtered_extent(image, col_radius).area()) *
         size_of(pixel_type_of(arithmetic));
}

void VariantConvolver::load(const ConstPixelView& image, DeviceStream stream) const {
  if (image.extent != image_ || image.type != source_.type || image.channels != 1) {
    throw InvalidArgument(
        fmt::format("the convolver was created for another image: give {} x {} pixels of one channel, {}",
                    image_.rows, image_.cols, name_of(source_.type)));
  }
  const PixelView interior = source_.crop({0, row_taps_.radius(), image_.rows, image_.cols});
  copy_rows(interior.data, interior.pitch_bytes, image.data, image.pitch_bytes, image.row_bytes(),
            image_.rows, stream);
}

void VariantConvolver::convolve(ConvVariant variant, const PixelView& out, DeviceStream stream) const {
  const PixelView interior = filtered_.crop({col_taps_.radius(), 0, image_.rows, image_.cols});
  convolve_pass(variant, ConvPass::rows, row_taps_, source_, interior, stream);
  convolve_pass(variant, ConvPass::cols, col_taps_, filtered_, out, stream);
}

}  // namespace sepconv
