#include "pipeline/run/clipping_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/chain/graph_tile.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kSmallArea = 512 * 512, kSampleSide = 32, kSampleGrid = 8;
constexpr double kMaxWorkFraction = 1.0 / 16;
/// Rarer clipping, such as the overshoot of unsharp, is not reported.
constexpr double kMinFraction = 0.01;
/// In a range of at most this size, rounding to integers loses most of the information.
constexpr double kSmallRange = 10;

/// The graph up to the clipped image, which is not rounded.
Graph unrounded_graph(const Clipping& clipping, const Chain& chain, const ImageSpec& source,
                      Arithmetic arithmetic) {
  Graph graph(clipping.before(chain), source);
  graph.store_result_as(pixel_type_of(arithmetic));
  return graph;
}

/// Sample rectangles in the middle of each cell of a grid over the image.
std::vector<Rect> middles(Extent image) {
  const std::int64_t grid_rows = std::min(image.rows, kSampleGrid),
                     grid_cols = std::min(image.cols, kSampleGrid);
  std::vector<Rect> result;
  for (std::int64_t i = 0; i < grid_rows * grid_cols; ++i) {
    const std::int64_t top = i / grid_cols * image.rows / grid_rows,
                       left = i % grid_cols * image.cols / grid_cols;
    const Rect middle = middle_rect({(i / grid_cols + 1) * image.rows / grid_rows - top,
                                     (i % grid_cols + 1) * image.cols / grid_cols - left},
                                    {kSampleSide, kSampleSide});
    result.push_back({top + middle.row, left + middle.col, middle.rows, middle.cols});
  }
  return result;
}

bool samples_everything(const Plan& plan) { return plan.result().extent.area() <= kSmallArea; }

Extent sample_side(const Plan& plan) {
  return {std::min(plan.tile.rows, kSampleSide), std::min(plan.tile.cols, kSampleSide)};
}

}  // namespace

ClippingSamples::ClippingSamples(const Reader& source, const Writer& sink, const Plan& plan) {
  const Extent side = samples_everything(plan) ? plan.tile : sample_side(plan);
  for (Clipping& clipping : find_clippings(source, sink, plan.chain, plan.specs, plan.arithmetic)) {
    if (!clipping.is_possible()) continue;
    const Graph unrounded = unrounded_graph(clipping, plan.chain, plan.source(), plan.arithmetic);
    if (tile_scratch_bytes(unrounded, side, plan.arithmetic) > plan.arena_bytes) continue;
    sample_operations_ += tile_operations(unrounded, sample_side(plan), Scratch::host);
    watched_.push_back({std::move(clipping)});
  }
}

std::vector<Rect> ClippingSamples::samples(const Plan& plan, const Rect& band) const {
  if (watched_.empty()) return {};
  if (samples_everything(plan)) return tiles_of(band, plan.tile);
  const Extent side = sample_side(plan);
  const std::vector<Rect> candidates = middles(plan.result().extent);
  const auto max_count = static_cast<std::size_t>(
      std::clamp(kMaxWorkFraction * plan.operations / std::max(sample_operations_, 1.0), 1.0,
                 static_cast<double>(candidates.size())));
  std::vector<Rect> result;
  for (std::size_t i = 0; i < max_count; ++i) {
    const Rect& candidate = candidates[(2 * i + 1) * candidates.size() / (2 * max_count)];
    const Rect part = Rect{candidate.row, candidate.col, std::min(candidate.rows, side.rows),
                           std::min(candidate.cols, side.cols)}
                          .intersect(band);
    if (!part.empty()) result.push_back(part);
  }
  return result;
}

Rect ClippingSamples::sampled_part(const Watched& watched, const Plan& plan, const Rect& sample) {
  const std::size_t value = plan.graph.stage_input(watched.clipping.stages);
  const Extent image = plan.graph.specs()[value].extent;
  const Rect needed = plan.graph.needed_rects(sample)[value].intersect({0, 0, image.rows, image.cols});
  if (needed.area() <= sample.area()) return needed;
  const Rect middle = middle_rect(needed.extent(), sample.extent());
  return {needed.row + middle.row, needed.col + middle.col, middle.rows, middle.cols};
}

void ClippingSamples::count_clipped(const Plan& plan, const Chain& chain, const ConstRegion& source,
                                    const Rect& sample, Worker& worker) {
  for (Watched& watched : watched_) {
    const Rect part = sampled_part(watched, plan, sample);
    if (part.empty()) continue;
    const Graph unrounded = unrounded_graph(watched.clipping, chain, plan.source(), plan.arithmetic);
    const ImageSpec& spec = unrounded.result();
    visit_arithmetic(plan.arithmetic, [&]<class A>(std::type_identity<A>) {
      std::vector<A> values(static_cast<std::size_t>(part.area() * spec.channels));
      const PixelView view =
          dense_view(reinterpret_cast<std::byte*>(values.data()), {part.extent(), spec.channels, spec.type});
      compute_tile(unrounded, plan.arithmetic, source, {view, part, spec.extent}, worker);
      Statistics values_seen, alpha;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool is_alpha = static_cast<std::int64_t>(i) % spec.channels == watched.clipping.alpha;
        (is_alpha ? alpha : values_seen).add(values[i], watched.clipping.held);
      }
      const std::lock_guard lock(mutex_);
      watched.values_seen.add(values_seen), watched.alpha.add(alpha);
    });
  }
}

void ClippingSamples::Statistics::add(double value, const ValueRange& held) {
  if (std::isnan(value)) return;
  ++count;
  below += value < held.low - 0.5;
  above += value > held.high + 0.5;
  fractions += value != std::nearbyint(value);
  minimum = std::min(minimum, value), maximum = std::max(maximum, value);
}

void ClippingSamples::Statistics::add(const Statistics& other) {
  count += other.count, fractions += other.fractions, below += other.below, above += other.above;
  minimum = std::min(minimum, other.minimum), maximum = std::max(maximum, other.maximum);
}

bool ClippingSamples::is_fractional(const Statistics& values_seen) {
  return values_seen.fractions >= values_seen.count / 2 &&
         std::nearbyint(values_seen.maximum) - std::nearbyint(values_seen.minimum) <= kSmallRange;
}

std::string ClippingSamples::alpha_warning(const Watched& watched) {
  const auto& [clipping, values_seen, alpha] = watched;
  const double opaque = clipping.held.high;
  if (!clipping.samples_alpha || alpha.maximum <= 0) return {};
  if (alpha.maximum > opaque + 0.5)
    return fmt::format(
        "alpha is up to {:.6g}, and {} holds {:.0f}, which is opaque: what is above that becomes opaque; the "
        "stage stretch and OutputOptions::to_8bit keep its share",
        alpha.maximum, clipping.high.type, opaque);
  if (alpha.maximum < opaque / 16)
    return fmt::format(
        "alpha is at most {:.6g}, where {:.0f} is opaque: the result is nearly transparent; the stage stretch "
        "and OutputOptions::to_8bit keep the share of alpha whose largest number is opaque in the source",
        alpha.maximum, opaque);
  return {};
}

std::string ClippingSamples::clipped_warning(const Watched& watched) {
  const auto& [clipping, values_seen, alpha] = watched;
  std::string shares, stored;
  const auto add_range = [&](double count, const char* where, double limit, double replacement) {
    if (count == 0) return;
    const bool is_first = shares.empty();
    const double percent = 100 * count / values_seen.count;
    shares += fmt::format("{}{:.{}f} % {}{} {:.0f}", is_first ? "" : " and ", percent,
                          percent >= 9.95  ? 0
                          : percent >= 0.1 ? 1
                                           : 3,
                          is_first ? "of the values are " : "", where, limit);
    stored += fmt::format("{}{:.0f}", is_first ? "" : " and ", replacement);
  };
  add_range(values_seen.below, "below", clipping.held.low, clipping.stored.low);
  add_range(values_seen.above, "above", clipping.held.high, clipping.stored.high);
  const Clipping::Bound& bound = values_seen.below >= values_seen.above ? clipping.low : clipping.high;
  return fmt::format("{}, which {} does not hold: they become {} (by samples of {:.4g} to {:.4g}); {}",
                     shares, bound.type, stored, values_seen.minimum, values_seen.maximum,
                     clipping.way_out(bound, is_fractional(values_seen)));
}

std::string ClippingSamples::warning(const Watched& watched) {
  const auto& [clipping, values_seen, alpha] = watched;
  if (values_seen.count == 0) return {};
  const double fraction = (values_seen.below + values_seen.above) / values_seen.count;
  // Report values on both sides of 0 that lose their sign, however rare they are.
  const bool is_signed = clipping.held.low == 0 && clipping.made.low < -clipping.made.high / 2;
  if (fraction >= kMinFraction || (is_signed && fraction > 0)) return clipped_warning(watched);
  const double low = std::nearbyint(values_seen.minimum) + 0.0,
               high = std::nearbyint(values_seen.maximum) + 0.0;
  const bool values_differ = values_seen.maximum - values_seen.minimum >
                             1e-6 * std::max(std::abs(values_seen.minimum), std::abs(values_seen.maximum));
  if (fraction > 0 || !values_differ || !is_fractional(values_seen)) return {};
  return fmt::format(
      "all sampled values are rounded to {} (they are {:.4g} to {:.4g}), as {} holds whole numbers; {}",
      low == high ? fmt::format("{:.0f}", low)
                  : fmt::format("whole numbers from {:.0f} to {:.0f}", low, high),
      values_seen.minimum, values_seen.maximum, clipping.high.type, clipping.way_out(clipping.high, true));
}

std::vector<std::string> ClippingSamples::warnings() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> result;
  for (const Watched& watched : watched_)
    for (std::string text : {warning(watched), alpha_warning(watched)})
      if (!text.empty()) result.push_back(std::move(text));
  return result;
}

}  // namespace sepconv
