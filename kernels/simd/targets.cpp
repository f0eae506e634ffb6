#include "kernels/simd/targets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/error.hpp"
#include "kernels/simd/dispatch.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/simd/targets.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
/// Dispatched like every kernel call, so it reports the target that actually runs.
const char* dispatched_name() { return hwy::TargetName(HWY_TARGET); }
}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {
namespace {

HWY_EXPORT(dispatched_name);

/// The compiled targets that the processor supports, best first, because better targets have lower bits. The
/// static target, for which the whole library is compiled, always runs.
std::vector<std::int64_t> target_bits() {
  hwy::SetSupportedTargetsForTest(0);
  const std::int64_t usable = (hwy::SupportedTargets() | HWY_STATIC_TARGET) & HWY_TARGETS;
  std::vector<std::int64_t> bits;
  for (std::int64_t remaining = usable; remaining != 0; remaining &= remaining - 1)
    bits.push_back(remaining & -remaining);
  return bits;
}

/// Determined before any target is forced.
const std::vector<std::int64_t>& usable_targets() {
  static const std::vector<std::int64_t> targets = target_bits();
  return targets;
}

void use_targets(std::int64_t mask_or_zero) {
  hwy::SetSupportedTargetsForTest(mask_or_zero);
  hwy::GetChosenTarget().Update(mask_or_zero != 0 ? mask_or_zero : hwy::SupportedTargets());
}

}  // namespace

std::string simd_target() { return HWY_DYNAMIC_DISPATCH(dispatched_name)(); }

std::vector<std::string> simd_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : usable_targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

void force_simd_target(std::string_view name) {
  const std::vector<std::int64_t>& usable = usable_targets();
  if (name.empty()) return use_targets(0);
  for (const std::int64_t target : usable) {
    if (name == hwy::TargetName(target)) return use_targets(target);
  }
  throw InvalidArgument(fmt::format("instruction set '{}' is not among those of this build and processor: {}",
                                    name, fmt::join(simd_targets(), ", ")));
}

}  // namespace sepconv
#endif
