// Host kernels on one instruction set.
#pragma once

#include <string>

#include "kernels/simd/targets.hpp"

namespace sepconv {

/// Forces one instruction set for all kernels until the end of the scope.
class ForcedTarget {
 public:
  explicit ForcedTarget(const std::string& name) { force_simd_target(name); }
  ForcedTarget(const ForcedTarget&) = delete;
  ForcedTarget& operator=(const ForcedTarget&) = delete;
  ~ForcedTarget() { force_simd_target(""); }
};

}  // namespace sepconv
