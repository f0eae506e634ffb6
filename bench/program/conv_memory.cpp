// Checks the memory of bench conv before any measurement.
#include <fmt/format.h>

#include <algorithm>

#include "bench/conv/tiled_convolver.hpp"
#include "conv.hpp"
#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/machine/host_resources.hpp"
#include "pipeline/report/report.hpp"

namespace sepconv::app {

namespace {

/// Required bytes, and the option that reduces them.
struct Need {
  std::int64_t device = 0, host = 0;
  std::string description, option;
};

/// GPU: source, result, the lab variants' images and sepconv's scratch. Host: page-locked and pageable
/// images.
Need variants_need(const ConvRequest& request, PixelType type, std::int64_t radius) {
  const std::int64_t image = ImageSpec{request.extent, 1, type}.bytes();
  const Arithmetic arithmetic = arithmetic_of(type);
  return {
      2 * image + VariantConvolver::device_bytes(radius, radius, request.extent, arithmetic) +
          sepconv_device_bytes({request.extent, 1, type}, radius),
      4 * image,
      fmt::format("{} x {} {} at radius {}", request.extent.cols, request.extent.rows, name_of(type), radius),
      "--size"};
}

Need tiled_need(const ConvRequest& request, PixelType type) {
  const std::int64_t radius = request.tiled_radius;
  const Extent extent = request.tiled_extent;
  const Arithmetic arithmetic = arithmetic_of(type);
  return {TiledConvolver::device_bytes(radius, radius, extent, arithmetic, tile_elements(request), 2),
          TiledConvolverImage::host_bytes(radius, radius, extent, arithmetic),
          fmt::format("{} x {} {} in bands", extent.cols, extent.rows, name_of(type)),
          "--tiled-size, or --no-tiled"};
}

void check_need(const ConvRequest& request, const Need& need) {
  const auto check = [&](std::int64_t bytes, std::int64_t available, const std::string& where) {
    if (bytes <= available) return;
    throw OutOfMemory(fmt::format("{} takes {} of {}, but {} are available; give a smaller {}",
                                  need.description, format_bytes(static_cast<double>(bytes)), where,
                                  format_bytes(static_cast<double>(available)), need.option));
  };
  check(need.device, device_memory_ceiling(request.options.devices, request.options),
        fmt::format("memory of cuda:{}", request.gpu()));
  check(need.host, free_memory_bytes(), "the host's memory");
}

}  // namespace

void check_memory(const ConvRequest& request) {
  for (const PixelType type : request.types) {
    for (const std::int64_t radius : request.radii) check_need(request, variants_need(request, type, radius));
    if (request.tiled) check_need(request, tiled_need(request, type));
  }
}

}  // namespace sepconv::app
