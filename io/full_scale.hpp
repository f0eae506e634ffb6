// The value that pictures show as white, and that is opaque in alpha.
#pragma once

#include <cmath>

#include "io/sample_type.hpp"

namespace sepconv {

/// The maximum of an integer type, or 1 for other types.
inline double full_scale(SampleType type) noexcept {
  if (type.kind == SampleType::Kind::natural) return std::exp2(type.bits) - 1;
  return type.kind == SampleType::Kind::integer ? std::exp2(type.bits - 1) - 1 : 1;
}

}  // namespace sepconv
