#include "pipeline/stages/resample_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/error.hpp"
#include "kernels/pointwise/missing.hpp"
#include "pipeline/stages/normalized_convolution.hpp"
#include "pipeline/stages/stage_text.hpp"

namespace sepconv {
namespace {

/// Both passes use as many taps as the filter has pixels on the coarser side.
StageDeclaration declaration_of(std::string text, Extent cell, ResampleFilter filter, bool handles_nodata,
                                bool keeps_alpha) {
  constexpr double kMaxLobes = 3;  // bound of sum |weights| of a pass with sum of weights 1
  constexpr double kCoarse = 1024;
  const double taps = 2 * resample_radius({.scale = kCoarse, .filter = filter}) / kCoarse;
  return {.text = std::move(text),
          .traits = {.changes_size = true,
                     .work = {.operations_per_element = 2 * taps},
                     .nan = {.propagates = handles_nodata, .max_gain = kMaxLobes * kMaxLobes}},
          .properties = {.is_complex_linear = true,
                         .scale_factor = cell,
                         .runs_on_device = true,
                         .device_kernels = DeviceKernels::resampling |
                                           (keeps_alpha ? DeviceKernels::alpha : DeviceKernels::none),
                         .handles_nodata = handles_nodata,
                         .is_average = true,
                         .is_selection = filter == ResampleFilter::nearest}};
}

}  // namespace

ResampleAxis ResampledSide::axis(std::int64_t from, ResampleFilter filter, const std::string& stage) const {
  if (cell > 0) return {from, ceil_div(from, cell), static_cast<double>(cell), filter};
  const double length = to > 0 ? static_cast<double>(to) : std::nearbyint(by * static_cast<double>(from));
  if (length > static_cast<double>(kMaxSide)) {
    throw InvalidArgument(fmt::format(
        "stage '{}' makes a side of {:.3g} pixels of {}; the longest is {}, so take a smaller factor", stage,
        length, from, kMaxSide));
  }
  const std::int64_t result = std::max<std::int64_t>(1, static_cast<std::int64_t>(length));
  // An integer ratio equals a box filter, whose kernels are faster.
  if (filter == ResampleFilter::area && from % result == 0) filter = ResampleFilter::box;
  return {from, result, static_cast<double>(from) / static_cast<double>(result), filter};
}

ResampleStage::ResampleStage(std::string text, ResampledSide rows, ResampledSide cols, ResampleFilter filter,
                             std::optional<MissingPolicy> missing, std::optional<std::int64_t> alpha,
                             bool columns_first)
    : Stage(declaration_of(std::move(text), {rows.cell, cols.cell}, filter, missing.has_value(),
                           alpha.has_value())),
      rows_(rows),
      cols_(cols),
      filter_(filter),
      missing_(missing),
      alpha_(alpha),
      columns_first_(columns_first) {}

Resampling ResampleStage::for_image(Extent input) const {
  ResampledSide rows = rows_, cols = cols_;
  if (rows.fit > 0) {
    const auto ratio = [](std::int64_t to, std::int64_t from) {
      return static_cast<double>(to) / static_cast<double>(from);
    };
    const double scale = std::min(ratio(rows.fit, input.rows), ratio(cols.fit, input.cols));
    const auto length = [scale](const ResampledSide& side, std::int64_t from) {
      const auto rounded = static_cast<std::int64_t>(std::nearbyint(scale * static_cast<double>(from)));
      return std::clamp<std::int64_t>(rounded, 1, side.fit);
    };
    rows = {.to = length(rows, input.rows)};
    cols = {.to = length(cols, input.cols)};
  }
  return {rows.axis(input.rows, filter_, text()), cols.axis(input.cols, filter_, text()), columns_first_};
}

ImageSpec ResampleStage::output_spec(const ImageSpec& input) const {
  const Resampling resampling = for_image(input.extent);
  return {{resampling.down.to, resampling.across.to}, input.channels, input.type};
}

Rect ResampleStage::input_for(const Rect& output, const ImageSpec& input) const {
  return resample_input(for_image(input.extent), output);
}

StagePtr ResampleStage::transposed() const {
  return std::make_shared<ResampleStage>(toggle_suffix(text(), " (transposed)"), cols_, rows_, filter_,
                                         missing_, alpha_, !columns_first_);
}

StagePtr ResampleStage::with_nodata() const {
  if (missing_) return shared_from_this();
  return std::make_shared<ResampleStage>(text() + ",nodata=ignore", rows_, cols_, filter_,
                                         MissingPolicy::ignore, std::nullopt, columns_first_);
}

StagePtr ResampleStage::with_alpha_mask(std::int64_t alpha) const {
  if (missing_ == MissingPolicy::propagate) return shared_from_this();
  return std::make_shared<ResampleStage>(
      fmt::format("{}{} (alpha {} of all)", text(), missing_ ? "" : ",nodata=ignore", alpha), rows_, cols_,
      filter_, MissingPolicy::ignore, alpha, columns_first_);
}

std::int64_t ResampleStage::scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                                          Arithmetic arithmetic) const {
  const Resampling resampling = for_image(input.extent);
  if (missing_ == MissingPolicy::ignore)
    return normalized_resample_bytes(resampling, scratch, output, input.channels, arithmetic);
  const auto bytes = scratch == Scratch::host ? resample_scratch_bytes : resample_device_bytes;
  return bytes(resampling, output, input.channels, arithmetic);
}

void ResampleStage::apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                          Worker& worker) const {
  const Resampling resampling = for_image(in.image);
  if (missing_ == MissingPolicy::ignore) {
    const ConstPixelView needed = in.crop(resample_input(resampling, out.rect)).pixels;
    if (find_missing_state(needed, std::numeric_limits<double>::quiet_NaN()) != MissingState::none_missing) {
      const Arena::Scope scope(worker);
      return resample_normalized(HostBackend{arithmetic, worker}, resampling, alpha_, in, out);
    }
  }
  resample_host(resampling, in, out, arithmetic, worker);
}

void ResampleStage::apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const {
  if (missing_ == MissingPolicy::ignore)
    return resample_normalized(ReferenceBackend{arithmetic}, for_image(in.image), alpha_, in, out);
  resample_reference(for_image(in.image), in, out, arithmetic);
}

void ResampleStage::enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                            DeviceStream stream, const Epilogue& epilogue) const {
  if (missing_ == MissingPolicy::ignore) {
    const Arena::Scope scope(arena);
    const std::byte* const result = alpha_ ? nullptr : out.pixels.data;
    return resample_normalized(StreamBackend{arithmetic, arena, stream, epilogue.ops, result},
                               for_image(in.image), alpha_, in, out);
  }
  resample_device(for_image(in.image), in, out, arithmetic, arena, stream, epilogue.ops);
}

}  // namespace sepconv
