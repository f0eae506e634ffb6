#include "pipeline/plan/device_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/memory.hpp"
#include "kernels/device/backend.hpp"
#include "pipeline/plan/cost.hpp"
#include "pipeline/plan/memory_limits.hpp"

namespace sepconv {
namespace {

/// Makes the GPU the current device and computes one pixel on it.
void try_device(int device) {
  set_current_device(device);
  const Stream stream;
  const float pixel = 1;
  const auto bytes = static_cast<std::int64_t>(sizeof pixel);
  const Buffer buffer(2 * bytes, device_resource());
  const PixelView from{buffer.data(), {1, 1}, 1, PixelType::f32, bytes};
  const PixelView to{buffer.data() + bytes, {1, 1}, 1, PixelType::f32, bytes};
  copy_rows(from.data, bytes, &pixel, bytes, bytes, 1, stream.get());
  pointwise_device({}, from, from, to, Arithmetic::f32, stream.get());
  stream.synchronize();
}

void check_exists(int device, std::int64_t found) {
  const auto fail = [device](const std::string& reason) {
    throw InvalidArgument(fmt::format("PlanOptions::devices cuda:{}: {}", device, reason));
  };
  if (found == 0) fail(gpu_absence_reason() + "; leave it out, and the CPU computes");
  if (device >= found)
    fail(fmt::format("there {} only {} GPU{}, numbered from 0; sepconv devices lists them",
                     found == 1 ? "is" : "are", found, found == 1 ? "" : "s"));
}

/// The plan for the CPU and these GPUs, whose contexts are not created yet. Throws OutOfMemory.
Plan plan_shared(PlanOptions options, const std::vector<int>& devices, const MakePlan& make_plan) {
  check_devices(devices);
  options.with_cpu = true;
  return make_plan(options_for_gpus(options, devices));
}

/// The better plan for the CPU and the first GPU or all GPUs, if it is predicted to take less than this.
std::optional<Plan> best_shared(const PlanOptions& options, const MakePlan& make_plan, double max_seconds,
                                std::string& reason) {
  std::vector<int> devices;
  for (const DeviceInfo& device : list_devices()) devices.push_back(device.index);
  std::optional<Plan> on_first;
  try {
    on_first = plan_shared(options, {devices.front()}, make_plan);
  } catch (const OutOfMemory&) {
    reason += ", and a plan for both does not fit into memory";
    return std::nullopt;
  }
  Plan best = std::move(*on_first);
  if (!best.with_cpu) {
    reason += ", which cannot share the bands, because " + best.why_not_shared;
    return std::nullopt;
  }
  if (devices.size() > 1) try {
      Plan on_all = plan_shared(options, devices, make_plan);
      if (on_all.predicted.total < kSharedTime * best.predicted.total) best = std::move(on_all);
    } catch (const OutOfMemory&) {  // each device needs memory on the host
    }
  reason += fmt::format(", {:.2f} s for {}", best.predicted.total, devices_text(best.devices, true));
  return best.predicted.total < max_seconds ? std::optional(std::move(best)) : std::nullopt;
}

}  // namespace

std::string gpu_absence_reason() {
  return find_device_backend() != nullptr ? "no GPU or no NVIDIA driver was found"
                                          : "this build of sepconv has no CUDA engine";
}

void check_devices(const std::vector<int>& devices) {
  const std::int64_t found = std::ssize(list_devices());
  for (const int device : devices) check_exists(device, found);
}

void open_devices(const std::vector<int>& devices) {
  if (std::ranges::all_of(devices, has_context)) return;
  check_devices(devices);
  for (auto device = devices.rbegin(); device != devices.rend(); ++device) try_device(*device);
}

double context_seconds(const MachineModel& machine, const std::vector<int>& devices) {
  const auto missing_contexts =
      devices.size() - static_cast<std::size_t>(std::ranges::count_if(devices, has_context));
  return static_cast<double>(missing_contexts) * machine.device.start_seconds;
}

std::string why_no_gpu(const MachineModel& machine, const std::optional<Prediction>& on_cpu) {
  if (find_device_backend() == nullptr) return gpu_absence_reason();
  const double context = context_seconds(machine, {0});
  // A query for GPUs already takes part of the time of a context.
  if (on_cpu && on_cpu->total <= context)
    return fmt::format("{:.2f} s are predicted, and a GPU's start takes {:.2f} s", on_cpu->total, context);
  if (on_cpu && context > 0) {
    // A GPU's result is read and written by the CPU, too.
    const double transfer = std::max(on_cpu->read, on_cpu->write);
    const double max_gain = on_cpu->total - transfer;
    if (context + transfer >= on_cpu->total &&
        max_gain <= machine.device.query_seconds + (1 - kSharedTime) * on_cpu->total)
      return fmt::format(
          "{:.2f} s are predicted, {:.2f} s of them to read or write, and a GPU's start takes {:.2f} s",
          on_cpu->total, transfer, context);
  }
  return list_devices().empty() ? gpu_absence_reason() : "";
}

PlanOptions options_for_gpus(const PlanOptions& options, const std::vector<int>& devices) {
  PlanOptions gpu_options = options;
  gpu_options.devices = devices;
  gpu_options.choose_device = false;
  if (gpu_options.max_device_memory_bytes > 0 || std::ranges::all_of(devices, has_context))
    return gpu_options;
  std::int64_t bytes = std::numeric_limits<std::int64_t>::max();
  for (const DeviceInfo& device : list_devices())
    if (std::ranges::count(devices, device.index) > 0) bytes = std::min(bytes, device.memory_bytes);
  gpu_options.max_device_memory_bytes = usable_device_bytes(bytes);
  return gpu_options;
}

std::string times_text(double cpu_seconds, double gpu_seconds, double context_seconds) {
  if (cpu_seconds == std::numeric_limits<double>::infinity()) return "no plan for the CPU fits into memory";
  return fmt::format(
      "{:.2f} s are predicted for the CPU and {:.2f} s for cuda:0{}", cpu_seconds, gpu_seconds,
      context_seconds > 0 ? fmt::format(", of which {:.2f} s are its start", context_seconds) : "");
}

std::string why_not_shared(const PlanProblem& problem, bool is_chosen) {
  if (problem.source.layout().access == Access::sequential ||
      problem.sink.layout().access == Access::sequential)
    return "the source or the sink goes row by row";
  if (problem.codecs.decodes || problem.codecs.encodes) return "the GPU codes blocks";
  if (problem.turned) return "the result is transposed";
  if (problem.is_volume()) return "bands are planes of a volume";
  if (problem.whole_columns) return "a band needs whole columns of the source";
  if (is_chosen && problem.sink.layout().is_append_only)
    return "the order of the blocks in the file would differ from run to run";
  return "";
}

Plan choose_plan(const PlanOptions& options, const MakePlan& make_plan) {
  if (options.with_cpu && !options.choose_device && !options.devices.empty()) try {
      if (Plan shared = plan_shared(options, options.devices, make_plan); shared.with_cpu) return shared;
    } catch (const NotOnDevice&) {  // reported below
    }
  return plan_on_devices<Plan>(options, make_plan, [&](double max_seconds, std::string& reason) {
    return best_shared(options, make_plan, max_seconds, reason);
  });
}

}  // namespace sepconv
