#include "pipeline/stages/normalized_convolution.hpp"

#include <algorithm>
#include <cmath>

namespace sepconv {
namespace {

bool has_negative_weights(const ResampleAxis& axis) {
  return !axis.is_identity() &&
         (axis.filter == ResampleFilter::cubic || axis.filter == ResampleFilter::lanczos3);
}
}  // namespace

double total_weight(const SeparableTaps& taps, Arithmetic arithmetic) {
  const double one = 1;
  double total = 0;
  convolve_reference(taps, {.mode = BorderMode::replicate}, ConstRegion::whole(view_of(&one, {1, 1})),
                     Region::whole(view_of(&total, {1, 1})), arithmetic);
  return total;
}

bool has_negative_weights(const Resampling& resampling) {
  return has_negative_weights(resampling.down) || has_negative_weights(resampling.across);
}

Resampling with_linear(Resampling resampling) {
  for (ResampleAxis* axis : {&resampling.down, &resampling.across}) axis->filter = ResampleFilter::linear;
  return resampling;
}

bool can_renormalise(const std::vector<double>& taps) {
  constexpr double kMinFraction = 0.01;
  double sum = 0, size = 0;
  for (const double tap : taps) sum += tap, size += std::abs(tap);
  return taps.empty() || sum > kMinFraction * size;
}

MissingPolicy default_policy(const std::vector<SeparableTaps>& filters) {
  const auto is_average = [](const std::vector<double>& taps) {
    return can_renormalise(taps) && std::ranges::all_of(taps, [](double tap) { return tap >= 0; });
  };
  return std::ranges::all_of(
             filters, [&](const SeparableTaps& taps) { return is_average(taps.row) && is_average(taps.col); })
             ? MissingPolicy::ignore
             : MissingPolicy::propagate;
}

std::int64_t normalized_convolution_bytes(Scratch scratch, Extent needed, Extent output,
                                          std::int64_t channels, Arithmetic arithmetic) {
  const PixelType type = pixel_type_of(arithmetic);
  const std::int64_t results = scratch == Scratch::host ? 2 : 1;
  return Arena::view_bytes(needed, channels, type) +
         Arena::view_bytes(needed, channels, weight_type(scratch, arithmetic)) +
         results * Arena::view_bytes(output, channels, type);
}

std::int64_t normalized_resample_bytes(const Resampling& resampling, Scratch scratch, Extent output,
                                       std::int64_t channels, Arithmetic arithmetic) {
  const auto bytes = [&](Resampling reading) {
    reading.read = {.kind = PointwiseOp::Kind::zero_missing};
    return (scratch == Scratch::host ? resample_scratch_bytes : resample_device_bytes)(reading, output,
                                                                                       channels, arithmetic);
  };
  const bool falls_back = has_negative_weights(resampling);
  const std::int64_t views = falls_back ? 6 : 3;
  const std::int64_t passes =
      falls_back ? std::max(bytes(resampling), bytes(with_linear(resampling))) : bytes(resampling);
  return passes + views * Arena::view_bytes(output, channels, pixel_type_of(arithmetic));
}

}  // namespace sepconv
