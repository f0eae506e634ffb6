// Which instruction set the host kernels run on: found at run time, or forced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// Name of the Highway target that the host kernels use now, e.g. "AVX3", "AVX2", "SSE4".
std::string simd_target();

/// All compiled targets that this processor supports, best first.
std::vector<std::string> simd_targets();

/// Restricts the host kernels of the whole process to one of simd_targets(), for tests and measurements; ""
/// removes the restriction. Must not be called while kernels run. Throws InvalidArgument for an unknown name.
void force_simd_target(std::string_view name);

}  // namespace sepconv
