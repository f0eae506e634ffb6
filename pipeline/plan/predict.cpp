// Predicts the time of a run from the machine model.
#include <algorithm>
#include <charconv>
#include <optional>

#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/plan/cost.hpp"

namespace sepconv {
namespace {

constexpr double kEncodedFraction =
    0.5;  // encoded size relative to the pixels: an estimate, it depends on the
          // pixels

double copy_seconds(const HostModel& host, double bytes, int threads) {
  return 2 * bytes / std::min(host.copy_rate * threads, host.max_copy_rate);
}

/// Average number of threads that code blocks simultaneously; some idle in a band's last round. `part`: the
/// band's part of the image.
template <class Layout>
double parallel_coders(const Layout& layout, Extent part, int threads) {
  if (!layout.streams || layout.access == Access::sequential) return 1;
  const std::int64_t blocks = ceil_div(part.rows, layout.block.rows) * ceil_div(part.cols, layout.block.cols);
  return static_cast<double>(blocks) / static_cast<double>(ceil_div(blocks, threads));
}

/// The codec's rates; nullopt for uncompressed files.
std::optional<FileModel::Codec> codec_of(const FileModel& files, std::string_view name) {
  if (name == kUncompressed) return std::nullopt;
  const std::size_t colon = name.rfind(':');
  int level = 0;
  if (colon != name.npos) std::from_chars(name.data() + colon + 1, name.data() + name.size(), level);
  if (level > 0) name = name.substr(0, colon);
  const auto* const found = std::ranges::find(files.codecs, name, &FileModel::Codec::name);
  FileModel::Codec codec = found != files.codecs.end() ? *found : files.codecs.front();
  if (level > 0) codec.encode_rate /= FileModel::level_time_factor(codec.name, level);
  return codec;
}

/// Fraction of the read bytes that crosses the bus: blocks that a GPU decodes cross encoded. Zarr does not
/// report the size of its streams.
double stored_fraction(const PlanProblem& problem, const Plan& plan) {
  if (!plan.decodes_on_devices()) return 1;
  const SourceLayout& layout = problem.source.layout();
  if (layout.file && layout.file->zarr.version != 0) return kEncodedFraction;
  return static_cast<double>(problem.source.stored_bytes()) /
         static_cast<double>(problem.specs.front().bytes());
}

int writers(const PlanProblem& problem, const Plan& plan) {
  return write_threads(problem.sink.layout(), problem.specs.back(), plan.band, plan.threads);
}

double write_seconds(const PlanProblem& problem, const Plan& plan) {
  const SinkLayout& layout = problem.sink.layout();
  const auto bytes = static_cast<double>(plan.bytes_written);
  if (layout.codec == kInMemory) return copy_seconds(problem.machine.host, bytes, plan.threads);
  if (plan.encodes_on_devices()) return kEncodedFraction * bytes / problem.machine.files.write_rate;
  if (const auto codec = codec_of(problem.machine.files, layout.codec))
    return bytes / (codec->encode_rate * parallel_coders(layout, plan.band, plan.threads));
  const FileModel& files = problem.machine.files;
  return bytes / (writers(problem, plan) > 1 ? files.mapped_write_rate : files.write_rate);
}

/// Seconds of concurrent host steps: they share processors, so the longest hides the others only in part.
double overlapped_seconds(const HostModel& host, std::initializer_list<double> steps) {
  double sum = 0;
  for (const double step : steps) sum += step;
  return std::max(steps) + host.contention * (sum - std::max(steps));
}

/// Seconds of the host's steps if it reads and writes as predicted and computes for `compute` seconds.
double host_seconds(const PlanProblem& problem, const Plan& plan, const Prediction& steps, double compute) {
  const SinkLayout& sink = problem.sink.layout();
  const double write_share =  // of the processors
      sink.codec == kUncompressed ? static_cast<double>(writers(problem, plan)) / plan.threads : 1;
  const double busy = steps.read + compute + steps.write * write_share;
  return std::max(busy, overlapped_seconds(problem.machine.host, {steps.read, compute, steps.write}));
}

/// Seconds of a device's longest step.
double device_seconds(const Prediction& steps) {
  return std::max({steps.upload, steps.decode, steps.compute, steps.download});
}

double bands_of(const Plan& plan) {
  return static_cast<double>(std::max<std::int64_t>(1, plan.band_count()));
}

void predict_on_host(const PlanProblem& problem, const Plan& plan, const Tiling& cut,
                     Prediction& prediction) {
  const HostModel& host = problem.machine.host;
  const auto moved = static_cast<double>(plan.bytes_read + plan.secondary_bytes_read() + plan.bytes_written);
  prediction.start = host.start_seconds;
  prediction.compute = std::max(cut.compute_seconds * (plan.arithmetic == Arithmetic::f64 ? host.wide : 1),
                                copy_seconds(host, moved / 2, plan.threads));
  prediction.write += cut.piece_bytes * host.moved_byte_seconds / plan.threads;
  prediction.total = host_seconds(problem, plan, prediction, prediction.compute);
  prediction.cpu_band = prediction.compute / bands_of(plan);
}

void predict_on_devices(const PlanProblem& problem, const Plan& plan, const Tiling& cut,
                        Prediction& prediction) {
  const MachineModel& machine = problem.machine;
  const auto secondary = static_cast<double>(plan.secondary_bytes_read());
  const auto moved = static_cast<double>(plan.bytes_read + plan.bytes_written) + secondary;
  const double bus = machine.bus.both_ways_rate * problem.devices;
  const std::int64_t cpu_slots =
      plan.slots * (plan.slot_input_bytes + plan.slot_secondary_bytes() + plan.slot_output_bytes);
  prediction.start =
      static_cast<double>(plan.memory.slots - (plan.with_cpu ? cpu_slots : 0)) / machine.bus.page_lock_rate;
  const auto read = static_cast<double>(plan.bytes_read), written = static_cast<double>(plan.bytes_written);
  prediction.upload = (read * stored_fraction(problem, plan) + secondary + cut.piece_bytes / 2) / bus;
  prediction.download =
      (written * (plan.encodes_on_devices() ? kEncodedFraction : 1) + cut.piece_bytes / 2) / bus;
  prediction.compute =
      std::max(cut.compute_seconds * (plan.arithmetic == Arithmetic::f64 ? machine.device.wide : 1),
               moved / machine.device.copy_rate) /
      problem.devices;
  const bool is_wide = size_of(problem.specs.front().type) > 1;
  if (plan.decodes_on_devices()) {
    const DeviceModel::Codec& codec = machine.device.codec(problem.source.layout().coded->codec);
    prediction.decode = read / (is_wide ? codec.wide_decode_rate : codec.decode_rate) / problem.devices;
  }
  if (plan.encodes_on_devices())
    prediction.compute +=
        written / machine.device.codec(problem.sink.layout().coded->codec).encode_rate / problem.devices;
  prediction.total = std::max(overlapped_seconds(machine.host, {prediction.read, prediction.write}),
                              device_seconds(prediction));
  prediction.device_band = device_seconds(prediction) * problem.devices / bands_of(plan);
}

/// The CPU computes from the beginning, and reads and writes for the GPUs, which begin later. The share of
/// the CPU is such that all end together.
void predict_together(const PlanProblem& problem, const Plan& plan, const Tiling& cut,
                      Prediction& prediction) {
  Prediction on_cpu = prediction;
  predict_on_host(problem, plan, cut, on_cpu);
  Tiling device_cut = cut;
  device_cut.compute_seconds = cut.device_seconds;
  predict_on_devices(problem, plan, device_cut, prediction);
  prediction.start += problem.context_seconds;
  // Reading and writing for the GPUs begin with them.
  const double on_devices = std::max(device_seconds(prediction),
                                     overlapped_seconds(problem.machine.host, {on_cpu.read, on_cpu.write}));
  double share = 0, max_share = 1;
  for (int halving = 0; halving < 40; ++halving) {
    const double middle = (share + max_share) / 2;
    const bool cpu_ends_first = host_seconds(problem, plan, on_cpu, middle * on_cpu.compute) <
                                prediction.start + (1 - middle) * on_devices;
    (cpu_ends_first ? share : max_share) = middle;
  }
  prediction.write = on_cpu.write;
  prediction.upload *= 1 - share;
  prediction.download *= 1 - share;
  prediction.compute = std::max(share * on_cpu.compute, (1 - share) * prediction.compute);
  prediction.cpu_band = on_cpu.cpu_band;
  // One device may wait for the last band of the other.
  prediction.total = host_seconds(problem, plan, on_cpu, max_share * on_cpu.compute) +
                     std::min(prediction.cpu_band, prediction.device_band);
}

}  // namespace

double read_seconds(const MachineModel& machine, const SourceLayout& layout, std::int64_t bytes, Extent part,
                    int threads) {
  const FileModel& files = machine.files;
  const auto pixel_bytes = static_cast<double>(bytes);
  if (layout.codec == kInMemory) return copy_seconds(machine.host, pixel_bytes, threads);
  if (const auto codec = codec_of(files, layout.codec))
    return pixel_bytes / (codec->decode_rate * parallel_coders(layout, part, threads));
  const int readers = layout.access == Access::sequential ? 1 : threads;
  return pixel_bytes / std::min(files.read_rate * readers, files.max_read_rate);
}

Prediction predict(const PlanProblem& problem, const Plan& plan, const Tiling& cut) {
  Prediction prediction;
  const bool on_devices = problem.devices > 0;
  const Extent part = plan.graph.source_rect(problem.middle(plan.band)).extent();
  if (plan.decodes_on_devices()) {
    prediction.read =
        static_cast<double>(plan.bytes_read) * stored_fraction(problem, plan) /
        std::min(problem.machine.files.read_rate * plan.threads, problem.machine.files.max_read_rate);
  } else if (!on_devices || plan.with_cpu || !problem.source.is_page_locked())
    prediction.read =
        read_seconds(problem.machine, problem.source.layout(), plan.bytes_read, part, plan.threads);
  for (std::size_t i = 0; i < plan.seconds.size(); ++i)
    prediction.read += read_seconds(problem.machine, problem.seconds[i].reader->layout(),
                                    plan.seconds[i].bytes_read, part, plan.threads);
  if (!on_devices || plan.with_cpu || !problem.sink.is_page_locked())
    prediction.write = write_seconds(problem, plan);
  plan.with_cpu ? predict_together(problem, plan, cut, prediction)
  : on_devices  ? predict_on_devices(problem, plan, cut, prediction)
                : predict_on_host(problem, plan, cut, prediction);
  const double transfers =
      prediction.read + prediction.upload + prediction.decode + prediction.download + prediction.write;
  if (plan.slots == 1) prediction.total = transfers + prediction.compute;
  // The first band's input and the last band's output do not overlap.
  const double exposed = transfers / bands_of(plan);
  if (plan.with_cpu)
    prediction.total += exposed + problem.machine.host.start_seconds;  // begins before the GPUs
  else
    prediction.total =
        std::min(prediction.total + exposed, transfers + prediction.compute) + prediction.start;
  return prediction;
}

}  // namespace sepconv
