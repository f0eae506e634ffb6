// Measures an image in host memory that is streamed through the GPU in bands, with the lab's method and with
// run().
#include <fmt/format.h>

#include "bench/conv/tiled_convolver.hpp"
#include "conv.hpp"
#include "core/error.hpp"
#include "io/memory_image.hpp"
#include "kernels/device/buffer_pool.hpp"
#include "kernels/device/runtime.hpp"
#include "runs.hpp"

namespace sepconv::app {

namespace {

void check(const ConvRequest& request, const TiledRow& row, const ConstPixelView& from,
           const ConstPixelView& to) {
  try {
    check_windows(bench_chain(request.tiled_radius), *make_memory_reader(from), *make_memory_reader(to));
  } catch (const Error& error) {
    throw Error(fmt::format("{} with {} in flight in {}: {}", row.name, row.in_flight, name_of(row.type),
                            error.what()));
  }
}

/// The lab's method: all row passes, then all column passes, with variant 3, on one stream or on two with
/// separate buffers.
void bench_lab_bands(const ConvRequest& request, PixelType type, ConvResult& result) {
  const std::int64_t radius = request.tiled_radius;
  const TiledConvolverImage image(radius, radius, request.tiled_extent, arithmetic_of(type));
  fill_with_noise(request, image.source());
  for (const int streams : {1, 2}) {
    poison_windows(image.result());
    const TiledConvolver tiled(image, bench_taps(radius), ConvVariant::shared_tile, tile_elements(request),
                               streams);
    TiledRow row{
        .type = type, .name = "the lab's bands", .in_flight = streams, .band_rows = tiled.band_rows()};
    row.time = time_trimmed(request, [&] { return seconds_of([&] { tiled.run(); }); });
    check(request, row, image.source(), image.result());
    result.tiled.push_back(row);
  }
}

/// Measures run() from page-locked memory to page-locked memory; every pixel is copied once in each
/// direction. Buffers are reused between runs, as in bench run.
void bench_run(const ConvRequest& request, PixelType type, ConvResult& result) {
  const HostPair pair(request, {request.tiled_extent, 1, type}, true);
  const Chain chain = bench_chain(request.tiled_radius);
  const auto source = make_memory_reader(pair.from, HostMemory::page_locked);
  for (const int slots : {1, 3}) {
    poison_windows(pair.to);
    BufferPool pinned(pinned_resource()), memory(device_resource());
    RunOptions options = request.options;
    options.slots = slots;
    options.pinned_memory = &pinned, options.device_memory = &memory;
    TiledRow row{.type = type, .name = "sepconv run", .in_flight = slots};
    row.time = time_trimmed(request, [&] {
      const RunReport report =
          run(*source, *make_memory_writer(pair.to, HostMemory::page_locked), chain, options);
      row.band_rows = report.plan.band.rows;
      return report.wall_seconds - report.startup_seconds;
    });
    check(request, row, pair.from, pair.to);
    result.tiled.push_back(row);
  }
}

}  // namespace

void bench_tiled(const ConvRequest& request, ConvResult& result) {
  for (const PixelType type : request.types) {
    bench_lab_bands(request, type, result);
    bench_run(request, type, result);
  }
}

}  // namespace sepconv::app
