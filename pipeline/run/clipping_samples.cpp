#include "pipeline/run/clipping_samples.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "pipeline/chain/chain_tile.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kSmallArea = 512 * 512, kSampleSide = 32, kSampleGrid = 8;
constexpr double kWorkShare = 1.0 / 16;
/// Fewer of values that are hardly ever beyond, as where unsharp overshoots, are not worth a word.
constexpr double kMinShare = 0.01;
/// Fractions of a range that is not larger are most of what there is to see.
constexpr double kFewNumbers = 10;

/// The chain up to a place, and images between its stages, whose last is not rounded.
struct Unrounded {
  Chain chain;
  std::vector<ImageSpec> specs;

  Unrounded(const Clipping& clipping, const Chain& given, const ImageSpec& source, Arithmetic arithmetic)
      : chain(clipping.before(given)), specs(chain.specs(source)) {
    specs.back().type = pixel_type_of(arithmetic);
  }
};

/// The middle of each cell of a grid over the image.
std::vector<Rect> middles(Extent image) {
  const std::int64_t down = std::min(image.rows, kSampleGrid), across = std::min(image.cols, kSampleGrid);
  std::vector<Rect> found;
  for (std::int64_t i = 0; i < down * across; ++i) {
    const std::int64_t top = i / across * image.rows / down, left = i % across * image.cols / across;
    const Rect middle = middle_rect(
        {(i / across + 1) * image.rows / down - top, (i % across + 1) * image.cols / across - left},
        {kSampleSide, kSampleSide});
    found.push_back({top + middle.row, left + middle.col, middle.rows, middle.cols});
  }
  return found;
}

bool looks_at_all(const Plan& plan) { return plan.result().extent.area() <= kSmallArea; }

Extent sample_side(const Plan& plan) {
  return {std::min(plan.tile.rows, kSampleSide), std::min(plan.tile.cols, kSampleSide)};
}

}  // namespace

ClippingSamples::ClippingSamples(const Reader& source, const Writer& sink, const Plan& plan) {
  const Extent side = looks_at_all(plan) ? plan.tile : sample_side(plan);
  for (Clipping& clipping : clippings_of(source, sink, plan.chain, plan.specs, plan.arithmetic)) {
    if (!clipping.is_possible()) continue;
    const Unrounded unrounded(clipping, plan.chain, plan.specs.front(), plan.arithmetic);
    if (tile_scratch_bytes(unrounded.chain, unrounded.specs, side, plan.arithmetic) > plan.arena_bytes)
      continue;
    sample_operations_ += tile_operations(unrounded.chain, unrounded.specs, sample_side(plan), Scratch::host);
    watched_.push_back({std::move(clipping)});
  }
}

std::vector<Rect> ClippingSamples::samples(const Plan& plan, const Rect& band) const {
  if (watched_.empty()) return {};
  if (looks_at_all(plan)) return tiles_of(band, plan.tile);
  const Extent side = sample_side(plan);
  const std::vector<Rect> everywhere = middles(plan.result().extent);
  const auto most =
      static_cast<std::size_t>(std::clamp(kWorkShare * plan.operations / std::max(sample_operations_, 1.0),
                                          1.0, static_cast<double>(everywhere.size())));
  std::vector<Rect> found;
  for (std::size_t i = 0; i < most; ++i) {
    const Rect& at = everywhere[(2 * i + 1) * everywhere.size() / (2 * most)];
    const Rect part =
        Rect{at.row, at.col, std::min(at.rows, side.rows), std::min(at.cols, side.cols)}.intersect(band);
    if (!part.empty()) found.push_back(part);
  }
  return found;
}

Rect ClippingSamples::part_of(const Watched& watched, const Plan& plan, const Chain& chain,
                              const Rect& sample) {
  const std::size_t place = watched.clipping.stages;
  const Extent image = plan.specs[place].extent;
  const Rect needed =
      needed_rects(chain, plan.specs, sample)[place].intersect({0, 0, image.rows, image.cols});
  if (needed.area() <= sample.area()) return needed;
  const Rect middle = middle_rect(needed.extent(), sample.extent());
  return {needed.row + middle.row, needed.col + middle.col, middle.rows, middle.cols};
}

void ClippingSamples::look(const Plan& plan, const Chain& chain, const ConstRegion& source,
                           const Rect& sample, Worker& worker) {
  for (Watched& watched : watched_) {
    const Rect part = part_of(watched, plan, chain, sample);
    if (part.empty()) continue;
    const Unrounded unrounded(watched.clipping, chain, plan.specs.front(), plan.arithmetic);
    const ImageSpec& spec = unrounded.specs.back();
    visit_arithmetic(plan.arithmetic, [&]<class A>(std::type_identity<A>) {
      std::vector<A> values(static_cast<std::size_t>(part.area() * spec.channels));
      const PixelView view =
          dense_view(reinterpret_cast<std::byte*>(values.data()), {part.extent(), spec.channels, spec.type});
      compute_tile(unrounded.chain, unrounded.specs, plan.arithmetic, source, {view, part, spec.extent},
                   worker);
      Seen seen, alpha;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const bool is_alpha = static_cast<std::int64_t>(i) % spec.channels == watched.clipping.alpha;
        (is_alpha ? alpha : seen).add(values[i], watched.clipping.held);
      }
      const std::lock_guard lock(mutex_);
      watched.seen.add(seen), watched.alpha.add(alpha);
    });
  }
}

void ClippingSamples::Seen::add(double value, const ValueRange& held) {
  if (std::isnan(value)) return;
  ++count;
  below += value < held.low - 0.5;
  above += value > held.high + 0.5;
  fractions += value != std::nearbyint(value);
  least = std::min(least, value), most = std::max(most, value);
}

void ClippingSamples::Seen::add(const Seen& other) {
  count += other.count, fractions += other.fractions, below += other.below, above += other.above;
  least = std::min(least, other.least), most = std::max(most, other.most);
}

bool ClippingSamples::is_of_fractions(const Seen& seen) {
  return seen.fractions >= seen.count / 2 &&
         std::nearbyint(seen.most) - std::nearbyint(seen.least) <= kFewNumbers;
}

std::string ClippingSamples::alpha_warning(const Watched& watched) {
  const auto& [clipping, seen, alpha] = watched;
  const double opaque = clipping.held.high;
  if (!clipping.watches_alpha || alpha.most <= 0) return {};
  if (alpha.most > opaque + 0.5)
    return fmt::format(
        "alpha is up to {:.6g}, and {} holds {:.0f}, which is opaque: what is above that becomes opaque; the "
        "stage stretch and OutputOptions::to_8bit keep its share",
        alpha.most, clipping.high.type, opaque);
  if (alpha.most < opaque / 16)
    return fmt::format(
        "alpha is at most {:.6g}, where {:.0f} is opaque: the result is nearly transparent; the stage stretch "
        "and OutputOptions::to_8bit keep the share of alpha whose largest number is opaque in the source",
        alpha.most, opaque);
  return {};
}

std::string ClippingSamples::share_warning(const Watched& watched) {
  const auto& [clipping, seen, alpha] = watched;
  std::string shares, stored;
  const auto say = [&](double count, const char* where, double limit, double becomes) {
    if (count == 0) return;
    const bool first = shares.empty();
    const double percent = 100 * count / seen.count;
    shares += fmt::format("{}{:.{}f} % {}{} {:.0f}", first ? "" : " and ", percent,
                          percent >= 9.95  ? 0
                          : percent >= 0.1 ? 1
                                           : 3,
                          first ? "of the values are " : "", where, limit);
    stored += fmt::format("{}{:.0f}", first ? "" : " and ", becomes);
  };
  say(seen.below, "below", clipping.held.low, clipping.stored.low);
  say(seen.above, "above", clipping.held.high, clipping.stored.high);
  const Clipping::Bound& bound = seen.below >= seen.above ? clipping.low : clipping.high;
  return fmt::format("{}, which {} does not hold: they become {} (by samples of {:.4g} to {:.4g}); {}",
                     shares, bound.type, stored, seen.least, seen.most,
                     clipping.way_out(bound, is_of_fractions(seen)));
}

std::string ClippingSamples::warning(const Watched& watched) {
  const auto& [clipping, seen, alpha] = watched;
  if (seen.count == 0) return {};
  const double share = (seen.below + seen.above) / seen.count;
  // What is as often on either side of 0 loses its sign, however rare that is.
  const bool is_signed = clipping.held.low == 0 && clipping.made.low < -clipping.made.high / 2;
  if (share >= kMinShare || (is_signed && share > 0)) return share_warning(watched);
  const double low = std::nearbyint(seen.least) + 0.0, high = std::nearbyint(seen.most) + 0.0;
  const bool differ = seen.most - seen.least > 1e-6 * std::max(std::abs(seen.least), std::abs(seen.most));
  if (share > 0 || !differ || !is_of_fractions(seen)) return {};
  return fmt::format(
      "all sampled values are rounded to {} (they are {:.4g} to {:.4g}), as {} holds whole numbers; {}",
      low == high ? fmt::format("{:.0f}", low)
                  : fmt::format("whole numbers from {:.0f} to {:.0f}", low, high),
      seen.least, seen.most, clipping.high.type, clipping.way_out(clipping.high, true));
}

std::vector<std::string> ClippingSamples::warnings() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (const Watched& watched : watched_)
    for (std::string text : {warning(watched), alpha_warning(watched)})
      if (!text.empty()) found.push_back(std::move(text));
  return found;
}

}  // namespace sepconv
