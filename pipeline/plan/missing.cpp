// Handling of missing pixels: the chain that propagates them, and the value stored for them.
#include "pipeline/plan/missing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "io/nodata.hpp"
#include "pipeline/stages/alpha_stage.hpp"
#include "pipeline/stages/alpha_weighting.hpp"
#include "pipeline/stages/pointwise_stage.hpp"

namespace sepconv {
namespace {

/// The next value of the type, stored for a valid pixel that equals the nodata value.
double next_value(double value, PixelType type) {
  return visit_pixel_type(type, [value]<class T>(std::type_identity<T>) {
    const T from = static_cast<T>(value);
    if constexpr (std::is_integral_v<T>) {
      return static_cast<double>(from == std::numeric_limits<T>::max() ? from - 1 : from + 1);
    } else {
      const T up = std::nextafter(from, std::numeric_limits<T>::infinity());
      return static_cast<double>(std::isinf(up) ? std::nextafter(from, -up) : up);
    }
  });
}

/// Integer types of up to 32 bits. The arithmetic can represent their halves, so rounding is exact.
bool is_rounded_integer(SampleType type) {
  return (type.kind == SampleType::Kind::natural || type.kind == SampleType::Kind::integer) &&
         type.bits <= 32;
}

/// Appends stages that clamp and round results, half to even, as they will be stored, before they are
/// compared with the nodata value. 1.5 * 2^52 (f64) and 1.5 * 2^23 (f32) have no fractional bits: adding and
/// subtracting them rounds.
void append_rounding(Chain& chain, SampleType stored, Arithmetic arithmetic) {
  using Kind = PointwiseOp::Kind;
  const double magic = arithmetic == Arithmetic::f32 ? 0x1.8p23 : 0x1.8p52;
  const double min = stored.kind == SampleType::Kind::integer ? -std::exp2(stored.bits - 1) : 0;
  const double max = std::exp2(stored.bits) - 1 + min;
  const auto append = [&](Kind kind, double p, double q) {
    chain.then(pointwise_stage(fmt::format("(whole numbers: {}, {})", p, q), {.kind = kind, .p = p, .q = q}));
  };
  append(Kind::clamp, min, max);
  append(Kind::scale, 1, magic);
  append(Kind::scale, 1, -magic);
}

/// The value stored for a valid pixel that would equal `missing.result`.
double next_stored_value(const MissingPixels& missing, PixelType type) {
  if (!missing.stored || !is_rounded_integer(*missing.stored)) return next_value(missing.result, type);
  return value_as(missing.result + 1, *missing.stored).value_or(missing.result - 1);
}

AlphaOp hide_op(const MissingPixels& missing) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  return {.kind = AlphaOp::Kind::hide, .channel = *missing.alpha, .p = missing.value.value_or(kNone)};
}

AlphaOp store_op(const MissingPixels& missing, PixelType result) {
  AlphaOp op{.kind = AlphaOp::Kind::store, .channel = *missing.alpha, .type = result};
  op.r = std::numeric_limits<double>::quiet_NaN();
  if (missing.has_result()) op.p = op.q = op.r = missing.result;
  if (missing.has_result() && !missing.all_channels) op.q = next_stored_value(missing, result);
  return op;
}

StagePtr make_alpha_stage(std::string_view what, const AlphaOp& op, std::optional<double> value) {
  return alpha_stage(
      fmt::format("({}: alpha {}{})", what, op.channel, value ? fmt::format(", {}", *value) : ""), op);
}

/// The stage with alpha as a mask. Only averages of alpha are meaningful; other stages leave alpha unchanged.
/// Colours that are multiplied by alpha are averaged over the same pixels as alpha.
StagePtr with_alpha_mask(const StagePtr& stage, std::int64_t alpha, const MissingPixels& missing) {
  StagePtr masked = missing.multiplied ? stage->with_nodata() : stage->with_alpha_mask(alpha);
  const PrimitiveTraits& traits = stage->traits();
  const StageProperties& properties = stage->properties();
  const bool makes_mask =
      missing.is_mask && (properties.keeps_last_channel || properties.product != Product::none);
  if (properties.is_average || traits.is_permutation() || makes_mask) return masked;
  return colours_only_stage(std::move(masked), alpha);
}

}  // namespace

Chain apply_nodata_policy(const MissingPixels& missing, const Chain& chain, const ImageSpec& source,
                          std::optional<Arithmetic> asked) {
  const PixelType result = chain.result_spec(source).type;
  const bool only_moved = !chain.computes() && !missing.replaces_mask &&
                          (!missing.value || is_same_nodata(*missing.value, missing.result));
  if (missing.none() || only_moved) return chain;
  if (missing.weighs())
    return weight_by_alpha(chain, {*missing.alpha, missing.opaque, missing.multiplied}, result);
  const bool second_needs_f64 = std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    return stage->properties().secondary_nodata && stage->properties().needs_f64;
  });
  if (asked == Arithmetic::f32 &&
      (source.type == PixelType::f64 || result == PixelType::f64 || second_needs_f64))
    throw InvalidArgument(
        "f32 cannot distinguish the missing pixels of an f64 image from others; compute in "
        "f64");

  Chain nodata_chain;
  if (missing.alpha)
    nodata_chain.then(make_alpha_stage("missing", hide_op(missing), missing.value));
  else if (!std::isnan(*missing.value))
    nodata_chain.then(pointwise_stage(fmt::format("(missing: {})", *missing.value),
                                      {.kind = PointwiseOp::Kind::mark_missing, .p = *missing.value}));
  const std::vector<ImageSpec> specs = chain.specs(source);
  const auto alpha_of = [&](const ImageSpec& spec) {
    return missing.is_mask ? spec.channels - 1 : *missing.alpha;
  };
  double opaque = missing.opaque;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const StagePtr& stage = chain.stages()[i];
    nodata_chain.then(missing.alpha ? with_alpha_mask(stage, alpha_of(specs[i]), missing)
                                    : stage->with_nodata());
    if (missing.alpha && !missing.is_mask)
      opaque = append_alpha_rescale(nodata_chain, *stage, *missing.alpha, opaque);
  }
  if (missing.has_result() && missing.stored && is_rounded_integer(*missing.stored))
    append_rounding(nodata_chain, *missing.stored, chain.arithmetic(source, asked));
  if (missing.alpha) {
    MissingPixels in_result = missing;
    in_result.alpha = alpha_of(specs.back());
    return nodata_chain.then(
        make_alpha_stage("missing to", store_op(in_result, result),
                         in_result.has_result() ? std::optional(in_result.result) : std::nullopt));
  }
  return nodata_chain.then(pointwise_stage(fmt::format("(missing to: {})", missing.result),
                                           {.kind = PointwiseOp::Kind::store_missing,
                                            .p = missing.result,
                                            .q = next_stored_value(missing, result),
                                            .type = result}));
}

void mark_missing(const MissingPixels& missing, const PixelView& pixels, Arithmetic arithmetic) {
  if (missing.alpha) return alpha_host(hide_op(missing), pixels, pixels, arithmetic);
  pointwise_host({.kind = PointwiseOp::Kind::mark_missing, .p = *missing.value}, pixels, pixels, pixels,
                 arithmetic);
}

bool MissingPixels::rounding_may_collide() const {
  return stored && !weighs() &&
         ((alpha && stores_alpha) || (has_result() && !std::isnan(result) && !is_rounded_integer(*stored)));
}

void check_stored(const MissingPixels& missing, const Chain& chain) {
  const std::optional<SampleType>& stored = missing.stored;
  if (missing.none() || !stored || !chain.computes()) return;
  if (missing.has_result() && !value_as(missing.result, *stored))
    throw InvalidArgument(
        fmt::format("missing pixels are to be {}, and the result's elements of {} have no such value; set "
                    "MissingOptions::result to one that they have",
                    missing.result, name_of(*stored)));
  if (!missing.rounding_may_collide()) return;
  throw InvalidArgument(
      fmt::format("the result is stored as {}, where a value that is rounded could become one that is "
                  "missing; end the chain with a cast to {}, or set MissingOptions::none",
                  name_of(*stored), name_of(stored->pixels())));
}

std::string_view name_of(AlphaRule rule) noexcept { return rule == AlphaRule::weight ? "weight" : "mask"; }

std::optional<AlphaRule> alpha_rule_named(std::string_view name) noexcept {
  for (const AlphaRule rule : {AlphaRule::weight, AlphaRule::mask})
    if (name == name_of(rule)) return rule;
  return std::nullopt;
}

MissingPixels MissingPixels::of_result() const {
  MissingPixels missing{.result = result,
                        .alpha = alpha,
                        .multiplied = multiplied,
                        .is_mask = is_mask,
                        .replaces_mask = replaces_mask,
                        .rule = rule,
                        .opaque = opaque_in_result,
                        .opaque_in_result = opaque_in_result,
                        .rule_reason = rule_reason,
                        .stores_alpha = stores_alpha};
  missing.all_channels = all_channels;
  if (has_result() && !all_channels) missing.value = result;
  return missing;
}

MissingPixels MissingPixels::stored_in(const SinkLayout& sink) const {
  MissingPixels missing = *this;
  missing.stored = sink.stored;
  missing.stores_alpha = !sink.alpha_becomes_mask;
  return missing;
}

}  // namespace sepconv
