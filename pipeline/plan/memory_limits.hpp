// Checks of plan options and memory limits, shared by all planners. Internal to the planners.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "pipeline/plan/plan.hpp"

namespace sepconv {

constexpr int kPreferredSlots = 3;  ///< one is read, one computed, one written

/// Throws InvalidArgument for invalid options.
void check_options(const PlanOptions& options);

/// Throws InvalidArgument if a region is requested of an operation that only supports whole images.
void check_no_region(std::string_view what, const PlanOptions& options);

/// Usable part of this many free bytes of a GPU.
std::int64_t usable_device_bytes(std::int64_t free_bytes);

/// Bytes rounded up slightly, in the form of an option value: "294M", or "812K" below 16 MiB.
std::string size_option(std::int64_t bytes);

/// Ceilings in bytes for the host and for each GPU.
struct Ceilings {
  std::int64_t host = 0;
  std::int64_t device = 0;
};

/// Minimum memory of all candidates.
class MinMemory {
 public:
  /// Records a candidate; returns whether it fits.
  bool fits(const MemoryUse& memory, const DeviceMemoryUse& device_memory, const Ceilings& ceilings);
  /// Whether a candidate that needs at least this memory could lower the minimum.
  bool may_lower_min(const MemoryUse& memory, const DeviceMemoryUse& device_memory,
                     const Ceilings& ceilings) const;
  /// To be called if no candidate fits. Throws OutOfMemory with the minimum sufficient ceiling, rounded up,
  /// as an option value. `planned` names the job: "source, chain and sink", "product".
  [[noreturn]] void fail(const Ceilings& ceilings, const char* planned) const;

 private:
  static constexpr std::int64_t kUnset = std::numeric_limits<std::int64_t>::max();
  std::int64_t min_host_ = kUnset;    // minimum, regardless of device memory
  std::int64_t min_device_ = kUnset;  // minimum of candidates that fit the host
};

}  // namespace sepconv
