// What every planner asks of its options and says when nothing fits. Internal to the planners.
#pragma once

#include <limits>
#include <string>
#include <string_view>

#include "pipeline/plan/plan.hpp"

namespace sepconv {

constexpr int kPreferredSlots = 3;  ///< one being read, one computed, one written

/// Throws InvalidArgument for options that make no sense.
void check_options(const PlanOptions& options);

/// For what is only made as a whole: throws InvalidArgument for options that ask for a region.
void check_no_region(std::string_view what, const PlanOptions& options);

/// What may be held of this many free bytes of a GPU.
std::int64_t share_of_device_memory(std::int64_t free_bytes);

/// This many bytes or a little more, as an option takes them: "294M", or "812K" of less than 16 MiB.
std::string size_option(std::int64_t bytes);

/// Ceilings for the host and for each GPU.
struct Ceilings {
  std::int64_t host = 0;
  std::int64_t device = 0;
};

/// The least memory that candidates would do with.
class MinMemory {
 public:
  /// Takes a candidate into account. Whether it fits.
  bool fits(const MemoryUse& memory, const DeviceMemoryUse& device_memory, const Ceilings& ceilings);
  /// Whether a candidate that takes at least so much could do with less than those before it.
  bool may_be_less(const MemoryUse& memory, const DeviceMemoryUse& device_memory,
                   const Ceilings& ceilings) const;
  /// None did: throws OutOfMemory with the smallest ceiling that would do, rounded up and in a form that can be
  /// typed. "source, chain and sink", "product".
  [[noreturn]] void fail(const Ceilings& ceilings, const char* planned) const;

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  std::int64_t host_ = kNone;    // whatever it takes on a device
  std::int64_t device_ = kNone;  // of those that fit the host
};

}  // namespace sepconv
