// AlphaOps for tests.
#pragma once

#include <cmath>

#include "kernels/pointwise/alpha.hpp"
#include "random_image.hpp"

namespace sepconv {

/// A random operation on an image of `channels` channels whose result is stored as `type`.
inline AlphaOp random_alpha_op(Random& random, std::int64_t channels, PixelType type) {
  AlphaOp op{.channel = random_between(random, 0, channels - 1), .type = type};
  const auto value = [&] { return static_cast<double>(random_between(random, 0, 9)); };
  const bool declared = random_between(random, 0, 1) == 1;
  op.p = declared ? value() : NAN;
  using Kind = AlphaOp::Kind;
  constexpr Kind kKinds[] = {Kind::hide,   Kind::store, Kind::multiply,
                             Kind::divide, Kind::clear, Kind::rescale};
  op.kind = random_choice(random, kKinds);
  if (op.kind == Kind::hide) return op;
  if (op.kind != Kind::store) {
    if (random_between(random, 0, 1) == 0) op.type = PixelType::f64;
    op.p = declared ? 0 : NAN;
    op.r = random_between(random, 0, 1) == 0 ? 1 : 8;
    if (op.kind == Kind::rescale) op.p = value();
    return op;
  }
  op.p = declared ? op.p : 0;
  op.q = declared ? op.p + 1 : 0;
  op.r = declared ? op.p : NAN;
  return op;
}

}  // namespace sepconv
