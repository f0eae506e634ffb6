#include "sepconv/pipeline/machine/machine_model.hpp"

#include "sepconv/kernels/cuda/device_limits.hpp"
#include "sepconv/pipeline/machine/host_limits.hpp"
#include "sepconv/pipeline/machine/host_resources.hpp"

namespace sepconv {
namespace {

// What filters reach of the multiply-adds and of the copies that are measured alone: docs/benchmarks.md.
constexpr double kReached = 0.75;
constexpr double kBusReached = 0.97;

void measure_device(int device, MachineModel& model) {
  const DeviceLimits limits = measure_device_limits(device);
  model.bus.one_way_rate = kBusReached * limits.upload_bytes_per_second;
  model.bus.both_ways_rate = kBusReached * limits.duplex_bytes_per_second;
  model.device.fma_seconds = 1 / (kReached * limits.fma_f32_per_second);
  model.device.wide = limits.fma_f32_per_second / limits.fma_f64_per_second;
  model.device.copy_rate = limits.copy_bytes_per_second;
}

}  // namespace

MachineModel measure_machine(int threads, int device) {
  const int used = threads > 0 ? threads : usable_processors();
  const HostLimits limits = measure_host_limits(used);
  MachineModel model;
  model.host.copy_rate = limits.copy_bytes_per_second / used;
  model.host.most_copy_rate = limits.copy_bytes_per_second;
  model.host.fma_seconds = used / (kReached * limits.fma_per_second);
  model.host.wide = limits.fma_per_second / measure_fma_rate(used, Arithmetic::f64, 3);
  if (device >= 0) measure_device(device, model);
  return model;
}

}  // namespace sepconv
