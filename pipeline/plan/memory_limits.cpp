#include "pipeline/plan/memory_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/machine/host_resources.hpp"

namespace sepconv {
namespace {

constexpr double kUsableDeviceFraction = 0.9;  // of the free memory

}  // namespace

void check_options(const PlanOptions& options) {
  const auto check = [](bool is_valid, std::string_view what, std::int64_t value, std::string_view range) {
    if (!is_valid) throw InvalidArgument(fmt::format("{} cannot be {}; it lies {}", what, value, range));
  };
  check(options.max_memory_bytes >= 0, "the memory ceiling", options.max_memory_bytes, "above 0");
  check(options.threads >= 0 && options.threads <= kMaxThreads, "the number of threads", options.threads,
        fmt::format("between 1 and {}", kMaxThreads));
  check(options.slots >= 0 && options.slots <= kMaxSlots, "the number of slots", options.slots,
        fmt::format("between 1 and {}", kMaxSlots));
  check(options.band_rows >= 0, "the number of rows of a band", options.band_rows, "above 0");
  check(options.max_device_memory_bytes >= 0, "the ceiling for device memory",
        options.max_device_memory_bytes, "above 0");
  check(options.band_cols >= 0, "the number of columns of a band", options.band_cols, "above 0");
  if (options.choose_device && !options.devices.empty())
    throw InvalidArgument("PlanOptions::devices are named and to be chosen; leave out one of the two");
  for (auto device = options.devices.begin(); device != options.devices.end(); ++device) {
    check(*device >= 0, "the index of a GPU", *device, "at 0 or above");
    // Each entry would use the full memory limit of the GPU.
    if (std::count(options.devices.begin(), device, *device) > 0)
      throw InvalidArgument(fmt::format("GPU {} is named twice; give each only once", *device));
  }
}

void check_no_region(std::string_view what, const PlanOptions& options) {
  if (options.region != Rect{})
    throw InvalidArgument(fmt::format("{} is made as a whole; leave PlanOptions::region out", what));
}

std::int64_t memory_ceiling(const PlanOptions& options) {
  return options.max_memory_bytes > 0 ? options.max_memory_bytes : free_memory_bytes() / 4;
}

int threads_of(const PlanOptions& options) {
  return options.threads > 0 ? options.threads : usable_processors();
}

std::int64_t device_memory_ceiling(const std::vector<int>& devices, const PlanOptions& options) {
  if (devices.empty()) return std::numeric_limits<std::int64_t>::max();
  if (options.max_device_memory_bytes > 0) return options.max_device_memory_bytes;
  std::int64_t min_bytes = std::numeric_limits<std::int64_t>::max();
  for (const int device : devices) min_bytes = std::min(min_bytes, free_device_memory_bytes(device));
  return usable_device_bytes(min_bytes);
}

std::int64_t usable_device_bytes(std::int64_t free_bytes) {
  return static_cast<std::int64_t>(static_cast<double>(free_bytes) * kUsableDeviceFraction);
}

std::string size_option(std::int64_t bytes) {
  constexpr std::int64_t kMebi = std::int64_t{1} << 20;
  return bytes >= 16 * kMebi ? fmt::format("{}M", ceil_div(bytes, kMebi))
                             : fmt::format("{}K", ceil_div(bytes, 1024));
}

bool MinMemory::fits(const MemoryUse& memory, const DeviceMemoryUse& device_memory,
                     const Ceilings& ceilings) {
  min_host_ = std::min(min_host_, memory.total());
  if (memory.total() > ceilings.host) return false;
  min_device_ = std::min(min_device_, device_memory.total());
  return device_memory.total() <= ceilings.device;
}

bool MinMemory::may_lower_min(const MemoryUse& memory, const DeviceMemoryUse& device_memory,
                              const Ceilings& ceilings) const {
  return memory.total() < min_host_ ||
         (memory.total() <= ceilings.host && device_memory.total() < min_device_);
}

void MinMemory::fail(const Ceilings& ceilings, const char* planned) const {
  if (min_host_ == kUnset)
    throw OutOfMemory(
        fmt::format("no plan with bands of this size can be made for this {}; leave out "
                    "PlanOptions::band_rows and PlanOptions::band_cols",
                    planned));
  const bool device_is_short = min_device_ != kUnset;
  const std::int64_t min_bytes = device_is_short ? min_device_ : min_host_;
  throw OutOfMemory(
      fmt::format("no plan fits into {}{}: the smallest ceiling for this {} is {}; raise {} to {}",
                  format_bytes(static_cast<double>(device_is_short ? ceilings.device : ceilings.host)),
                  device_is_short ? " of device memory" : "", planned, size_option(min_bytes),
                  device_is_short ? "PlanOptions::max_device_memory_bytes" : "PlanOptions::max_memory_bytes",
                  size_option(min_bytes)));
}

}  // namespace sepconv
