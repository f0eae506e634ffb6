// How bench conv times its runs, the rates computed from the times, and shared helpers.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "conv.hpp"
#include "core/error.hpp"
#include "io/memory_image.hpp"
#include "io/test_pattern.hpp"
#include "kernels/conv/taps.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/run/apply.hpp"

namespace sepconv::app {

namespace {

double sigma_of(std::int64_t radius) { return static_cast<double>(radius) / 3; }

const ImageSpec spec_of(const ConstPixelView& view) { return {view.extent, view.channels, view.type}; }

/// Measured limits of the host's threads with this image: the rate of copying it and of multiply-adds.
ConvLimits host_limits(const ConvRequest& request, const ConstPixelView& from, const PixelView& to) {
  constexpr int kCopies = 3;
  const int threads = threads_of(request.options);
  ThreadPool pool(threads, request.options.stop);
  const std::int64_t bytes = from.extent.rows * from.row_bytes();  // both are dense
  double copy = std::numeric_limits<double>::infinity();
  for (int run = 0; run < kCopies; ++run)
    copy = std::min(copy, seconds_of([&] { copy_in_parts(from.data, to.data, bytes, pool); }));
  return {2 * static_cast<double>(bytes) / copy, measure_fma_rate(threads, arithmetic_of(from.type))};
}

}  // namespace

TrimmedMean time_trimmed(const ConvRequest& request, const std::function<double()>& seconds_of_run) {
  seconds_of_run();
  return time_trimmed(request.runs, request.options.stop, seconds_of_run);
}

const ConvRow* find_row(const ConvResult& result, const ConvRow& row, int variant) {
  const auto found = std::ranges::find_if(result.rows, [&](const ConvRow& candidate) {
    return candidate.type == row.type && candidate.radius == row.radius && candidate.variant == variant;
  });
  return found == result.rows.end() ? nullptr : &*found;
}

const CopyRow* find_copies(const ConvResult& result, const ConvRow& row) {
  const auto found = std::ranges::find_if(result.copies, [&](const CopyRow& copies) {
    return copies.type == row.type && copies.radius == row.radius && copies.page_locked;
  });
  return found == result.copies.end() ? nullptr : &*found;
}

double pixels_per_second(const ConvRequest& request, const ConvRow& row) {
  return static_cast<double>(request.extent.area()) / row.time.mean;
}
double bytes_per_second(const ConvRequest& request, const ConvRow& row) {
  return 2 * static_cast<double>(size_of(row.type) * request.channels) * pixels_per_second(request, row);
}
double copy_fraction(const ConvRequest& request, const ConvRow& row) {
  return bytes_per_second(request, row) / row.limits.copy_bytes_per_second;
}
double fma_fraction(const ConvRequest& request, const ConvRow& row) {
  return 2 * static_cast<double>((2 * row.radius + 1) * request.channels) * pixels_per_second(request, row) /
         row.limits.fma_per_second;
}

Chain bench_chain(std::int64_t radius) {
  return Chain({parse_stage(
      fmt::format("gaussian:sigma={},radius={},border=constant,value=0", sigma_of(radius), radius))});
}

SeparableTaps bench_taps(std::int64_t radius) {
  const std::vector<double> taps = gaussian_taps(sigma_of(radius), radius);
  return {taps, taps};
}

void fill_with_noise(const ConvRequest& request, const PixelView& view) {
  RunOptions options;  // on the CPU
  options.threads = request.options.threads, options.stop = request.options.stop;
  run(*make_pattern_reader(spec_of(view), Pattern::noise, 1), *make_memory_writer(view), Chain(), options);
}

HostPair::HostPair(const ConvRequest& request, const ImageSpec& spec, bool page_locked)
    : from_memory(spec.bytes(), page_locked ? pinned_resource() : page_resource()),
      to_memory(spec.bytes(), page_locked ? pinned_resource() : page_resource()),
      from(dense_view(from_memory.data(), spec)),
      to(dense_view(to_memory.data(), spec)) {
  fill_with_noise(request, from);
}

ConvRow time_host_engine(const ConvRequest& request, std::int64_t radius, const ConstPixelView& from,
                         const PixelView& to) {
  const Chain chain = bench_chain(radius);
  const ApplyOptions options{.threads = request.options.threads, .stop = request.options.stop};
  ConvRow row{.type = from.type, .radius = radius, .name = "cpu", .limits = host_limits(request, from, to)};
  row.time = time_trimmed(request, [&] { return seconds_of([&] { apply(chain, from, to, options); }); });
  return row;
}

}  // namespace sepconv::app
