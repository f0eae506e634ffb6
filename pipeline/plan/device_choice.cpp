#include "pipeline/plan/device_choice.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/memory.hpp"
#include "kernels/device/backend.hpp"
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

}  // namespace

std::string gpu_absence_reason() {
  return find_device_backend() != nullptr ? "no GPU or no NVIDIA driver was found"
                                          : "this build of sepconv has no CUDA engine";
}

void open_devices(const std::vector<int>& devices) {
  if (std::ranges::all_of(devices, has_context)) return;
  const std::int64_t found = std::ssize(list_devices());
  for (const int device : devices) check_exists(device, found);
  for (auto device = devices.rbegin(); device != devices.rend(); ++device) try_device(*device);
}

double context_seconds(const MachineModel& machine, const std::vector<int>& devices) {
  const auto missing_contexts =
      devices.size() - static_cast<std::size_t>(std::ranges::count_if(devices, has_context));
  return static_cast<double>(missing_contexts) * machine.device.start_seconds;
}

std::string why_no_gpu(const MachineModel& machine, double cpu_seconds) {
  if (find_device_backend() == nullptr) return gpu_absence_reason();
  const double context = context_seconds(machine, {0});
  if (cpu_seconds <= context)  // querying for GPUs already takes part of that time
    return fmt::format("{:.2f} s are predicted, and a GPU's start takes {:.2f} s", cpu_seconds, context);
  return list_devices().empty() ? gpu_absence_reason() : "";
}

PlanOptions options_for_first_gpu(const PlanOptions& options) {
  PlanOptions gpu_options = options;
  gpu_options.devices = {0};
  gpu_options.choose_device = false;
  if (gpu_options.max_device_memory_bytes == 0 && !has_context(0))
    gpu_options.max_device_memory_bytes = usable_device_bytes(list_devices().front().memory_bytes);
  return gpu_options;
}

std::string times_text(double cpu_seconds, double gpu_seconds, double context_seconds) {
  if (cpu_seconds == std::numeric_limits<double>::infinity()) return "no plan for the CPU fits into memory";
  return fmt::format(
      "{:.2f} s are predicted for the CPU and {:.2f} s for cuda:0{}", cpu_seconds, gpu_seconds,
      context_seconds > 0 ? fmt::format(", of which {:.2f} s are its start", context_seconds) : "");
}

}  // namespace sepconv
