#include "kernels/device/optional_kernels.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>
#include <vector>

#include "kernels/device/backend.hpp"

namespace sepconv {
namespace {

constexpr bool contains(DeviceKernels all, DeviceKernels kernels) { return (all | kernels) == all; }

constexpr std::pair<DeviceKernels, const char*> kNames[] = {
    {DeviceKernels::alpha, "operations on alpha"},
    {DeviceKernels::channel_matrices, "channel matrices"},
    {DeviceKernels::resampling, "resampling"},
    {DeviceKernels::ranks, "rank filters"},
    {DeviceKernels::windows, "box windows"},
    {DeviceKernels::disks, "disk windows"},
    {DeviceKernels::deviations, "standard deviations"},
    {DeviceKernels::transposes, "transposes"},
    {DeviceKernels::exact_products, "exact matrix products"},
    {DeviceKernels::products, "matrix products"},
    {DeviceKernels::nan_search, "search for NaN"},
    {DeviceKernels::encoders, "encoders"},
    {DeviceKernels::decoders, "decoders"},
};

}  // namespace

bool backend_has(DeviceKernels kernels) noexcept {
  const DeviceBackend* const backend = find_device_backend();
  return backend != nullptr && contains(optional_kernels_of(*backend), kernels);
}

std::string lacking_kernels(DeviceKernels kernels) {
  const DeviceBackend* const backend = find_device_backend();
  if (backend == nullptr || backend_has(kernels)) return {};
  std::vector<const char*> names;
  for (const auto& [kernel, name] : kNames)
    if (contains(kernels, kernel) && !backend_has(kernel)) names.push_back(name);
  return fmt::format("backend '{}' has no {}", backend->name, fmt::join(names, " and no "));
}

}  // namespace sepconv
