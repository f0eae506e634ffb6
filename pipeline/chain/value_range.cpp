#include "pipeline/chain/value_range.hpp"

#include <algorithm>
#include <cmath>

namespace sepconv {
namespace {

/// x * y, where 0 times anything is 0, as it is for the finite values in a range.
double product(double x, double y) { return x == 0 || y == 0 ? 0 : x * y; }

ValueRange products(const ValueRange& a, const ValueRange& b) {
  const auto [low, high] = std::minmax(
      {product(a.low, b.low), product(a.low, b.high), product(a.high, b.low), product(a.high, b.high)});
  return {low, high};
}

ValueRange quotients(const ValueRange& a, const ValueRange& b) {
  if (b.low <= 0 && b.high >= 0) {  // division by almost 0: any magnitude; the sign may be known
    const bool natural = a.low >= 0 && b.low >= 0;
    return natural ? ValueRange{.low = 0} : ValueRange{};
  }
  return products(a, {1 / b.high, 1 / b.low});
}

}  // namespace

bool ValueRange::is_bounded() const noexcept { return std::isfinite(low) && std::isfinite(high); }
double ValueRange::max_magnitude() const noexcept { return std::max(std::abs(low), std::abs(high)); }

ValueRange ValueRange::include(const ValueRange& other) const noexcept {
  return {std::min(low, other.low), std::max(high, other.high)};
}

ValueRange ValueRange::scaled(double factor) const noexcept {
  const auto [lowest, highest] = std::minmax({product(factor, low), product(factor, high)});
  return {lowest, highest};
}

ValueRange range_of(SampleType type) noexcept {
  using Kind = SampleType::Kind;
  if (type.kind == Kind::boolean) return {0, 1};
  if (type.kind == Kind::natural) return {0, std::ldexp(1.0, type.bits) - 1};
  if (type.kind == Kind::integer)
    return {-std::ldexp(1.0, type.bits - 1), std::ldexp(1.0, type.bits - 1) - 1};
  return {};
}

ValueRange range_of(const PointwiseOp& op, const ValueRange& a, const ValueRange& b) noexcept {
  using Kind = PointwiseOp::Kind;
  const auto within = [&](const ValueRange& limits) {
    return ValueRange{std::clamp(a.low, limits.low, limits.high),
                      std::clamp(a.high, limits.low, limits.high)};
  };
  switch (op.kind) {
    case Kind::scale:
      return a.scaled(op.p).plus({op.q, op.q});
    case Kind::clamp:
      return within({op.p, op.q});
    case Kind::round_to:
      return within(range_of(SampleType(op.type)));
    case Kind::absolute:
      return {std::max({0.0, a.low, -a.high}), a.max_magnitude()};
    case Kind::threshold:
      return {std::min(op.q, op.r), std::max(op.q, op.r)};
    case Kind::weight:
      return {0, 1};
    case Kind::magnitude:
      return {0, std::hypot(a.max_magnitude(), b.max_magnitude())};
    case Kind::sum:
      return a.plus(b);
    case Kind::difference:
      return a.plus(b.scaled(-1));
    case Kind::unsharp:
      return a.include(a.plus(a.plus(b.scaled(-1)).scaled(op.p)));
    case Kind::product:
      return products(a, b);
    case Kind::quotient:
      return quotients(a, b);
    case Kind::keep_missing:
      return b;
    case Kind::lesser:
      return {std::min(a.low, b.low), std::min(a.high, b.high)};
    case Kind::greater:
      return {std::max(a.low, b.low), std::max(a.high, b.high)};
    case Kind::mix:
      return a.scaled(op.p).plus(b.scaled(op.q));
    default:
      return a;
  }
}

}  // namespace sepconv
