#include "sepconv/pipeline/stages/resample_stage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sepconv/core/error.hpp"

namespace sepconv {
namespace {

/// Both passes, as many taps each as a filter has pixels of the coarser side.
StageTraits traits_of(ResampleFilter filter) {
  constexpr double kCoarse = 1024;
  const double taps = 2 * resample_reach({.scale = kCoarse, .filter = filter}) / kCoarse;
  return {.by_parts = true, .scales = true, .runs_on_device = true, .operations_per_element = 2 * taps};
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
  return {from, result, static_cast<double>(from) / static_cast<double>(result), filter};
}

ResampleStage::ResampleStage(std::string text, ResampledSide rows, ResampledSide cols, ResampleFilter filter,
                             bool columns_first)
    : Stage(traits_of(filter)),
      text_(std::move(text)),
      rows_(rows),
      cols_(cols),
      filter_(filter),
      columns_first_(columns_first) {}

Resampling ResampleStage::for_image(Extent input) const {
  return {rows_.axis(input.rows, filter_, text_), cols_.axis(input.cols, filter_, text_), columns_first_};
}

ImageSpec ResampleStage::output_spec(const ImageSpec& input) const {
  const Resampling resampling = for_image(input.extent);
  return {{resampling.down.to, resampling.across.to}, input.channels, input.type};
}

Rect ResampleStage::input_for(const Rect& output, const ImageSpec& input) const {
  return resample_input(for_image(input.extent), output);
}

StagePtr ResampleStage::transposed() const {
  static constexpr std::string_view kMark = " (transposed)";
  std::string text =
      columns_first_ ? text_.substr(0, text_.size() - kMark.size()) : text_ + std::string(kMark);
  return std::make_shared<ResampleStage>(std::move(text), cols_, rows_, filter_, !columns_first_);
}

std::int64_t ResampleStage::scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                                          Arithmetic arithmetic) const {
  const auto bytes = scratch == Scratch::host ? resample_scratch_bytes : resample_device_bytes;
  return bytes(for_image(input.extent), output, input.channels, arithmetic);
}

void ResampleStage::apply(const ConstRegion& in, const Region& out, Arithmetic arithmetic,
                          Worker& worker) const {
  resample_host(for_image(in.image), in, out, arithmetic, worker);
}

void ResampleStage::apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const {
  resample_reference(for_image(in.image), in, out, arithmetic);
}

void ResampleStage::enqueue(const ConstRegion& in, const Region& out, Arithmetic arithmetic, Arena& arena,
                            DeviceStream stream, std::span<const PointwiseOp> then) const {
  resample_cuda(for_image(in.image), in, out, arithmetic, arena, stream, then);
}

}  // namespace sepconv
