// Normalized filters of valid pixels: weighted sums that exclude missing pixels (NaN), divided by their
// weights. Private to pipeline/stages.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kernels/conv/conv.hpp"
#include "kernels/resample/resample.hpp"
#include "pipeline/stages/execution_backends.hpp"
#include "pipeline/stages/nodata_policy.hpp"

namespace sepconv {

/// Missing pixels stay missing unless `fills`.
struct NormalizedConvolution {
  const SeparableTaps& taps;
  const Border& border;
  bool fills;
};

/// Whether the sum of the taps is clearly positive, unlike that of a derivative. Only then can the weights of
/// valid pixels be renormalised.
bool can_renormalise(const std::vector<double>& taps);
/// The default policy: averages ignore missing pixels, differences propagate them.
MissingPolicy default_policy(const std::vector<SeparableTaps>& filters);

/// The sum of weights of a window without missing pixels.
double total_weight(const SeparableTaps& taps, Arithmetic arithmetic);

/// Type of the weights 1 and 0: small in device memory, the arithmetic type in a CPU cache.
inline PixelType weight_type(Scratch scratch, Arithmetic arithmetic) {
  return scratch == Scratch::device ? PixelType::u8 : pixel_type_of(arithmetic);
}

/// num is the filter's result with 0 for missing pixels, and den that of weights, 1 for valid and 0 for missing
/// pixels. `total` is den of a window without missing pixels. The result is num if den is `total`, num *
/// (total / den) if den is positive, otherwise missing; missing pixels stay missing unless `fills`. A constant
/// border counts as valid. filter(border, from, join, other, to) stores join(other, filtered), or the filtered
/// pixels if `join` is a copy. `in` is all that `out` needs, or the whole image. All backends give the same
/// bits.
template <class Backend, class Filter>
void normalize(const Backend& backend, const Border& border, bool fills, double total, const Filter& filter,
               const ConstRegion& in, const Region& out) {
  using Kind = PointwiseOp::Kind;
  const Arithmetic arithmetic = backend.arithmetic;
  const std::int64_t channels = out.pixels.channels;
  const PixelView zero_filled = backend.allocate(in.rect.extent(), channels, pixel_type_of(arithmetic));
  const PixelView weights =
      backend.allocate(in.rect.extent(), channels, weight_type(Backend::kScratch, arithmetic));
  backend.pointwise({.kind = Kind::zero_missing}, in.pixels, in.pixels, zero_filled);
  backend.pointwise({.kind = Kind::weight}, in.pixels, in.pixels, weights);
  const PointwiseOp missing_op{.kind = fills ? Kind::copy : Kind::keep_missing};
  const Region sums = allocate(backend, out);
  filter(border, {zero_filled, in.rect, in.image}, missing_op, in.crop(out.rect).pixels, sums);
  filter({border.mode, 1}, {weights, in.rect, in.image}, {.kind = Kind::renormalise, .p = total}, sums.pixels,
         out);
}

/// normalize() of a convolution.
template <class Backend>
void convolve_normalized(const Backend& backend, const NormalizedConvolution& filter, const ConstRegion& in,
                         const Region& out) {
  const auto convolve = [&](const Border& border, const ConstRegion& from, const PointwiseOp& join,
                            const ConstPixelView& other, const Region& to) {
    backend.convolve(filter.taps, border, from, join, other, to);
  };
  normalize(backend, filter.border, filter.fills, total_weight(filter.taps, backend.arithmetic), convolve, in,
            out);
}

/// Scratch bytes in addition to those of a convolution. `needed` and `output` are extents of the input and of
/// the result.
std::int64_t normalized_convolution_bytes(Scratch scratch, Extent needed, Extent output,
                                          std::int64_t channels, Arithmetic arithmetic);

/// For a filter with other weights for each result: sums of valid pixels times weights, and the fraction of the
/// weights that belongs to valid pixels.
struct NormalizedParts {
  PixelView sums, fraction;
};
/// `filtered(read, border)` is the result of the filter for pixels that `read` maps, and a constant border.
template <class Backend, class Filter>
NormalizedParts normalized_parts(const Backend& backend, double border, const Filter& filtered) {
  using Kind = PointwiseOp::Kind;
  const PixelView sums = filtered({.kind = Kind::zero_missing}, border),
                  weights = filtered({.kind = Kind::weight}, 1.0),
                  totals = filtered({.kind = Kind::threshold, .q = 1, .r = 1}, 1.0);
  backend.pointwise({.kind = Kind::quotient}, weights, totals, weights);
  return {sums, weights};
}

bool has_negative_weights(const Resampling& resampling);
/// The linear filter; its windows lie inside those of the filters with negative weights.
Resampling with_linear(Resampling resampling);

/// Normalized resampling. The result is sums if fraction is 1, sums / fraction if that is positive, otherwise
/// missing. Filters with negative weights (cubic, lanczos3) use linear where the fraction is not 1, so no
/// result leaves the range of the values in its window. The result only contains valid pixels: no result pixel
/// corresponds to one input pixel. For channel `alpha`, the coverage, the result is sums.
template <class Backend>
void resample_normalized(const Backend& backend, Resampling resampling, std::optional<std::int64_t> alpha,
                         const ConstRegion& in, const Region& out) {
  using Kind = PointwiseOp::Kind;
  const auto parts = [&] {
    return normalized_parts(backend, 0, [&](const PointwiseOp& read, double) {
      const Region part = allocate(backend, out);
      resampling.read = read;
      backend.resample(resampling, in, part);
      return part.pixels;
    });
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

/// Total scratch bytes of resample_normalized() for outputs up to this extent.
std::int64_t normalized_resample_bytes(const Resampling& resampling, Scratch scratch, Extent output,
                                       std::int64_t channels, Arithmetic arithmetic);

}  // namespace sepconv
