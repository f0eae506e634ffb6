// The number of a sample type that pictures show as white, and alpha as opaque.
#pragma once

#include <cmath>

#include "io/sample_type.hpp"

namespace sepconv {

/// The largest number of integers, and 1 of other types.
inline double full_scale(SampleType type) noexcept {
  if (type.kind == SampleType::Kind::natural) return std::exp2(type.bits) - 1;
  return type.kind == SampleType::Kind::integer ? std::exp2(type.bits - 1) - 1 : 1;
}

}  // namespace sepconv
