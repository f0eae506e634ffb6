// image_stats(): run() with an empty chain feeds sinks that count and store no pixels. Reading overlaps with
// counting, and the memory ceiling applies.
#include <fmt/format.h>
#include <spdlog/logger.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/view_check.hpp"
#include "io/flat/row_pieces.hpp"
#include "kernels/device/optional_kernels.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "pipeline/measure/stats_passes.hpp"
#include "pipeline/plan/cost.hpp"
#include "pipeline/plan/device_choice.hpp"

namespace sepconv {

namespace {

/// Returns {0} if the first GPU is predicted to finish counting before the CPU, otherwise {}. Logs the
/// reason.
std::vector<int> chosen_devices(const Reader& source, const RunOptions& options, bool histogram) {
  const MachineModel& machine = options.machine;
  const ImageSpec& spec = source.spec();
  const bool floating = is_floating(spec.type);
  const int threads = threads_of(options), passes = floating && histogram ? 2 : 1;
  const std::int64_t bytes = passes * spec.bytes();
  const double read = read_seconds(machine, source.layout(), bytes, spec.extent, threads);
  const double byte_seconds =
      floating ? machine.host.counted_floating_byte_seconds / 2 : machine.host.counted_byte_seconds;
  const double cpu = std::max(read, static_cast<double>(bytes) * byte_seconds / threads);
  const double context = context_seconds(machine, {0});
  const double gpu = context + std::max(source.is_page_locked() ? 0 : read,
                                        static_cast<double>(bytes) / machine.bus.one_way_rate);
  std::vector<int> chosen;
  std::string why = why_no_gpu(machine, cpu);
  if (why.empty()) why = lacking_kernels(DeviceKernels::statistics);
  if (why.empty()) {
    why = times_text(cpu, gpu, context);
    if (gpu < cpu) chosen = {0};
  }
  try {
    open_devices(chosen);
  } catch (const Error& error) {
    why = fmt::format("cuda:0 cannot be used, {}", error.what());
    chosen.clear();
  }
  if (options.logger) options.logger->info("{}: the {} computes", why, chosen.empty() ? "CPU" : "GPU");
  return chosen;
}

/// The source with missing pixels replaced by NaN.
class MarkingReader final : public Reader {
 public:
  MarkingReader(Reader& source, const MissingPixels& missing)
      : source_(source), layout_(source.layout()), missing_(missing) {
    layout_.coded.reset();  // pixels are marked here
  }
  const ImageSpec& spec() const noexcept override { return source_.spec(); }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return source_.metadata(); }
  std::int64_t buffer_bytes(int concurrency) const override { return source_.buffer_bytes(concurrency); }
  std::int64_t stored_bytes() const noexcept override { return source_.stored_bytes(); }
  std::int64_t changed_ns() const noexcept override { return source_.changed_ns(); }
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    source_.read(rect, out, executor);
    const Arithmetic arithmetic = out.type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32;
    for_each_row_piece(rect.rows, out.row_bytes(), executor, [&](std::int64_t first, std::int64_t count) {
      const PixelView piece = out.crop({first, 0, count, out.extent.cols});
      mark_missing(missing_, piece, arithmetic);
    });
  }

 private:
  Reader& source_;
  SourceLayout layout_;
  const MissingPixels& missing_;
};

std::vector<ChannelStats> stats_of(Reader& source, const RunOptions& options, const MissingPixels& missing,
                                   bool histogram) {
  if (!options.devices.empty()) return device_stats(source, options, missing.value, histogram);
  return is_floating(source.spec().type) ? floating_stats(source, options, histogram)
                                         : integer_stats(source, options, missing);
}

}  // namespace

std::vector<ChannelStats> image_stats(Reader& source, const RunOptions& options, bool histogram) {
  check_image("the image to measure", source.spec());
  RunOptions resolved = options;
  if (std::exchange(resolved.choose_device, false)) {
    resolved.devices = chosen_devices(source, options, histogram);
  } else {
    open_devices(options.devices);
  }
  const MissingPixels missing = missing_pixels(source, Chain(), std::exchange(resolved.missing, {}));
  if (missing.alpha && !resolved.devices.empty()) {
    if (options.logger) options.logger->info("pixels hidden by alpha are excluded on the CPU, which counts");
    resolved.devices.clear();
  }
  if (const std::string lacking = lacking_kernels(DeviceKernels::statistics);
      !lacking.empty() && !resolved.devices.empty()) {
    if (options.logger) options.logger->info("{}: the CPU counts", lacking);
    resolved.devices.clear();
  }
  if (missing.none() || !is_floating(source.spec().type))
    return stats_of(source, resolved, missing, histogram);
  MarkingReader marked(source, missing);
  std::vector<ChannelStats> stats = stats_of(marked, resolved, {}, histogram);
  for (ChannelStats& channel : stats) channel.missing_count = std::exchange(channel.nan_count, 0);
  return stats;
}

}  // namespace sepconv
