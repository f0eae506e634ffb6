// Measures the variants on an image in GPU memory, and the copies to and from the GPU.
#include <fmt/format.h>

#include <algorithm>

#include "bench/conv/variants.hpp"
#include "conv.hpp"
#include "core/error.hpp"
#include "io/memory_image.hpp"
#include "kernels/device/device_rates.hpp"
#include "kernels/device/runtime.hpp"
#include "runs.hpp"

namespace sepconv::app {

namespace {

constexpr const char* kNames[] = {"cpu",        "naive", "constant taps", "shared tile", "ours, two passes",
                                  "ours, fused"};
constexpr int kFusedVariant = 5, kVariants = 5;

/// The image in GPU memory and the buffers of all variants for one radius.
class DeviceCase {
 public:
  DeviceCase(const ImageSpec& spec, std::int64_t radius)
      : taps_(bench_taps(radius)),
        in_memory_(spec.bytes(), device_resource()),
        out_memory_(spec.bytes(), device_resource()),
        in_(dense_view(in_memory_.data(), spec)),
        out_(dense_view(out_memory_.data(), spec)),
        convolver_(taps_, spec.extent, arithmetic_of(spec.type)),
        arena_(Buffer(sepconv_device_bytes(spec, radius), device_resource())) {}

  void upload(const ConstPixelView& host) const { copy(in_, host); }
  void download(const PixelView& host) const { copy(host, out_); }
  /// Loads the source of the lab variants and overwrites the result, so that unwritten elements are detected.
  void prepare() const {
    convolver_.load(in_, stream_.get());
    fill_device_memory(out_.data, 0xA5, out_memory_.size(), stream_.get());
    stream_.synchronize();
  }

  void enqueue(int variant) {
    switch (variant) {
      case 1:
        return convolver_.convolve(ConvVariant::naive, out_, stream_.get());
      case 2:
        return convolver_.convolve(ConvVariant::constant_taps, out_, stream_.get());
      case 3:
        return convolver_.convolve(ConvVariant::shared_tile, out_, stream_.get());
      case 4:
        return convolve_sepconv(ConvolutionDesign::two_passes);
      default:
        return convolve_sepconv(ConvolutionDesign::fused);
    }
  }

  /// Seconds of the kernels alone.
  double kernel_seconds(int variant) {
    return clock_.seconds(stream_, [&] { enqueue(variant); });
  }

  /// Whether the variant supports this filter; the fused kernel does not fit every filter.
  bool fits(int variant) const {
    return variant != kFusedVariant ||
           convolve_device_fits(taps_, in_.channels, in_.type, arithmetic_of(in_.type));
  }

 private:
  void convolve_sepconv(ConvolutionDesign design) {
    convolve_device(design, taps_, kBenchBorder, ConstRegion::whole(in_), Region::whole(out_),
                    arithmetic_of(in_.type), arena_, stream_.get());
  }
  void copy(const PixelView& to, const ConstPixelView& from) const {
    copy_pixels(from, to, stream_.get());
    stream_.synchronize();
  }

  SeparableTaps taps_;
  Buffer in_memory_, out_memory_;
  PixelView in_, out_;
  VariantConvolver convolver_;
  Arena arena_;
  KernelClock clock_;
  Stream stream_;
};

ConvLimits limits_of(const DeviceRates& device, PixelType type) {
  return {device.copy_bytes_per_second,
          type == PixelType::f64 ? device.fma_f64_per_second : device.fma_f32_per_second};
}

ConvRow time_variant(const ConvRequest& request, const DeviceRates& limits, DeviceCase& device_case,
                     const HostPair& host, std::int64_t radius, int variant) {
  ConvRow row{.type = host.from.type,
              .radius = radius,
              .variant = variant,
              .name = kNames[variant],
              .limits = limits_of(limits, host.from.type)};
  device_case.prepare();
  row.time = time_trimmed(request, [&] { return device_case.kernel_seconds(variant); });
  device_case.download(host.to);
  try {
    check_windows(bench_chain(radius), *make_memory_reader(host.from), *make_memory_reader(host.to));
  } catch (const Error& error) {
    throw Error(fmt::format("variant {} ({}) at radius {} in {}: {}", variant, row.name, radius,
                            name_of(row.type), error.what()));
  }
  return row;
}

/// Measures the upload, then the download, each until it has completed.
CopyRow time_copies(const ConvRequest& request, const DeviceCase& device_case, const HostPair& host,
                    std::int64_t radius, bool page_locked) {
  CopyRow row{.type = host.from.type, .radius = radius, .page_locked = page_locked};
  row.upload = time_trimmed(request, [&] { return seconds_of([&] { device_case.upload(host.from); }); });
  row.download = time_trimmed(request, [&] { return seconds_of([&] { device_case.download(host.to); }); });
  return row;
}

void bench_type(const ConvRequest& request, const DeviceRates& limits, PixelType type, ConvResult& result) {
  const ImageSpec spec{request.extent, 1, type};
  const HostPair host(request, spec, true);
  for (const std::int64_t radius : request.radii) {
    DeviceCase device_case(spec, radius);
    device_case.upload(host.from);
    for (int variant = 1; variant <= kVariants; ++variant) {
      if (device_case.fits(variant))
        result.rows.push_back(time_variant(request, limits, device_case, host, radius, variant));
    }
    if (request.cpu) result.rows.push_back(time_host_engine(request, radius, host.from, host.to));
    result.copies.push_back(time_copies(request, device_case, host, radius, true));
  }
  const std::int64_t radius = request.radii.back();
  result.copies.push_back(
      time_copies(request, DeviceCase(spec, radius), HostPair(request, spec, false), radius, false));
}

}  // namespace

std::int64_t sepconv_device_bytes(const ImageSpec& spec, std::int64_t radius) {
  return convolve_device_bytes(bench_taps(radius), spec.extent, 1, arithmetic_of(spec.type), spec.extent);
}

void bench_variants(const ConvRequest& request, ConvResult& result) {
  // measure_device_limits() allocates 16 times its argument.
  const std::int64_t max_bytes = device_memory_ceiling(request.options.devices, request.options) / 16;
  const DeviceRates limits =
      measure_device_limits(request.gpu(), std::min(std::int64_t{64} << 20, max_bytes));
  for (const PixelType type : request.types) bench_type(request, limits, type, result);
}

}  // namespace sepconv::app
