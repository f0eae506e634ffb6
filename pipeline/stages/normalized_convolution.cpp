#include "pipeline/stages/normalized_convolution.hpp"

#include <algorithm>
#include <cmath>

#include "pipeline/stages/execution_backends.hpp"

namespace sepconv {
namespace {

using Kind = PointwiseOp::Kind;

/// Type of the weights 1 and 0: small in device memory, the arithmetic type in a CPU cache.
PixelType weight_type(Scratch scratch, Arithmetic arithmetic) {
  return scratch == Scratch::device ? PixelType::u8 : pixel_type_of(arithmetic);
}

/// The sum of weights for a window without missing pixels.
double total_of(const SeparableTaps& taps, Arithmetic arithmetic) {
  const double one = 1;
  double total = 0;
  convolve_reference(taps, {.mode = BorderMode::replicate}, ConstRegion::whole(view_of(&one, {1, 1})),
                     Region::whole(view_of(&total, {1, 1})), arithmetic);
  return total;
}

/// `in` is all that `out` needs.
template <class Backend>
void convolve_normalized(const Backend& backend, const NormalizedConvolution& filter, const ConstRegion& in,
                         const Region& out, Arithmetic arithmetic) {
  const std::int64_t channels = out.pixels.channels;
  const PixelType type = pixel_type_of(arithmetic);
  const PixelView zero_filled = backend.allocate(in.rect.extent(), channels, type);
  const PixelView weights =
      backend.allocate(in.rect.extent(), channels, weight_type(Backend::kScratch, arithmetic));
  backend.pointwise({.kind = Kind::zero_missing}, in.pixels, in.pixels, zero_filled);
  backend.pointwise({.kind = Kind::weight}, in.pixels, in.pixels, weights);
  const PointwiseOp missing_op{.kind = filter.fills ? Kind::copy : Kind::keep_missing};
  const Region sums = allocate(backend, out);
  backend.convolve(filter.taps, filter.border, {zero_filled, in.rect, in.image}, missing_op,
                   in.crop(out.rect).pixels, sums);
  backend.convolve(filter.taps, {filter.border.mode, 1}, {weights, in.rect, in.image},
                   {.kind = Kind::renormalise, .p = total_of(filter.taps, arithmetic)}, sums.pixels, out);
}

/// Operations that read the input as values, as weights, and as weights without missing pixels.
constexpr PointwiseOp kReadValues{.kind = Kind::zero_missing};
constexpr PointwiseOp kReadWeights{.kind = Kind::weight};
constexpr PointwiseOp kReadOnes{.kind = Kind::threshold, .q = 1, .r = 1};

bool has_negative_weights(const ResampleAxis& axis) {
  return !axis.is_identity() &&
         (axis.filter == ResampleFilter::cubic || axis.filter == ResampleFilter::lanczos3);
}
bool has_negative_weights(const Resampling& resampling) {
  return has_negative_weights(resampling.down) || has_negative_weights(resampling.across);
}

/// The linear filter; its windows lie inside those of the filters with negative weights.
Resampling with_linear(Resampling resampling) {
  for (ResampleAxis* axis : {&resampling.down, &resampling.across}) axis->filter = ResampleFilter::linear;
  return resampling;
}

template <class Backend>
void resample_normalized(const Backend& backend, Resampling resampling, std::optional<std::int64_t> alpha,
                         const ConstRegion& in, const Region& out, Arithmetic arithmetic) {
  const auto resampled = [&](const PointwiseOp& read) {
    const Region part{backend.allocate(out.rect.extent(), out.pixels.channels, pixel_type_of(arithmetic)),
                      out.rect, out.image};
    resampling.read = read;
    backend.resample(resampling, in, part);
    return part.pixels;
  };
  struct Parts {
    PixelView sums, fraction;  // sums of values, and weights / total weights
  };
  const auto parts = [&]() -> Parts {
    const PixelView sums = resampled(kReadValues), weights = resampled(kReadWeights),
                    totals = resampled(kReadOnes);
    backend.pointwise({.kind = Kind::quotient}, weights, totals, weights);
    return {sums, weights};
  };
  const bool falls_back = has_negative_weights(resampling);
  const auto [sums, fraction] = parts();
  if (!falls_back) {
    backend.pointwise({.kind = Kind::renormalise, .p = 1}, sums, fraction, out.pixels);
  } else {
    backend.pointwise({.kind = Kind::keep_equal, .p = 1}, sums, fraction, fraction);
    resampling = with_linear(resampling);
    const auto [linear_sums, linear_fraction] = parts();
    backend.pointwise({.kind = Kind::renormalise, .p = 1}, linear_sums, linear_fraction, linear_sums);
    // A sum that is NaN because of infinite values stays NaN, as without missing pixels.
    backend.pointwise({.kind = Kind::keep_missing}, sums, linear_sums, linear_sums);
    backend.pointwise({.kind = Kind::fill_missing}, fraction, linear_sums, out.pixels);
  }
  if (alpha) backend.keep_alpha(*alpha, sums, out.pixels);
}

}  // namespace

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

void normalized_convolution_reference(const NormalizedConvolution& filter, const ConstRegion& in,
                                      const Region& out, Arithmetic arithmetic) {
  convolve_normalized(ReferenceBackend{arithmetic}, filter, in, out, arithmetic);
}

void normalized_convolution(const NormalizedConvolution& filter, const ConstRegion& in, const Region& out,
                            Arithmetic arithmetic, Worker& worker) {
  const Arena::Scope scope(worker);
  convolve_normalized(HostBackend{arithmetic, worker}, filter, in, out, arithmetic);
}

void enqueue_normalized_convolution(const NormalizedConvolution& filter, const ConstRegion& in,
                                    const Region& out, Arithmetic arithmetic, Arena& arena,
                                    DeviceStream stream, std::span<const PointwiseOp> epilogue_ops) {
  const Arena::Scope scope(arena);
  convolve_normalized(DeviceBackend{arithmetic, arena, stream, epilogue_ops, out.pixels.data}, filter, in,
                      out, arithmetic);
}

std::int64_t normalized_convolution_bytes(Scratch scratch, Extent needed, Extent output,
                                          std::int64_t channels, Arithmetic arithmetic) {
  const PixelType type = pixel_type_of(arithmetic);
  const std::int64_t results = scratch == Scratch::host ? 2 : 1;
  return Arena::view_bytes(needed, channels, type) +
         Arena::view_bytes(needed, channels, weight_type(scratch, arithmetic)) +
         results * Arena::view_bytes(output, channels, type);
}

void normalized_resample_reference(const Resampling& resampling, std::optional<std::int64_t> alpha,
                                   const ConstRegion& in, const Region& out, Arithmetic arithmetic) {
  resample_normalized(ReferenceBackend{arithmetic}, resampling, alpha, in, out, arithmetic);
}

void normalized_resample(const Resampling& resampling, std::optional<std::int64_t> alpha,
                         const ConstRegion& in, const Region& out, Arithmetic arithmetic, Worker& worker) {
  const Arena::Scope scope(worker);
  resample_normalized(HostBackend{arithmetic, worker}, resampling, alpha, in, out, arithmetic);
}

void enqueue_normalized_resample(const Resampling& resampling, std::optional<std::int64_t> alpha,
                                 const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                                 Arena& arena, DeviceStream stream,
                                 std::span<const PointwiseOp> epilogue_ops) {
  const Arena::Scope scope(arena);
  const std::byte* const result = alpha ? nullptr : out.pixels.data;
  resample_normalized(DeviceBackend{arithmetic, arena, stream, epilogue_ops, result}, resampling, alpha, in,
                      out, arithmetic);
}

std::int64_t normalized_resample_bytes(const Resampling& resampling, Scratch scratch, Extent output,
                                       std::int64_t channels, Arithmetic arithmetic) {
  const auto bytes = [&](Resampling reading) {
    reading.read = kReadValues;
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
