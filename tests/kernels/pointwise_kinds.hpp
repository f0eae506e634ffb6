// All pointwise operations, for the tests of all implementations.
#pragma once

#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

using Kind = PointwiseOp::Kind;

inline constexpr Kind kKinds[] = {
    Kind::copy,         Kind::scale,        Kind::clamp,     Kind::absolute,      Kind::threshold,
    Kind::round_to,     Kind::magnitude,    Kind::sum,       Kind::difference,    Kind::unsharp,
    Kind::mark_missing, Kind::zero_missing, Kind::weight,    Kind::store_missing, Kind::keep_missing,
    Kind::quotient,     Kind::renormalise,  Kind::product,   Kind::lesser,        Kind::greater,
    Kind::mix,          Kind::fill_missing, Kind::keep_equal};

}  // namespace sepconv
