#include "sepconv/pipeline/run/clip_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sepconv/pipeline/chain/chain_tile.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kSmallArea = 65536, kSampleSide = 32, kSampleGrid = 8;
constexpr double kWorkShare = 1.0 / 16;
/// Fewer of values that are hardly ever beyond, as where unsharp overshoots, are not worth a word.
constexpr double kMinShare = 0.01;

/// The chain, and images between its stages, whose result is not rounded.
struct Unrounded {
  Chain chain;
  std::vector<ImageSpec> specs;

  Unrounded(const Chain& given, const ImageSpec& source, Arithmetic arithmetic)
      : chain(before_store(given)), specs(chain.specs(source)) {
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

}  // namespace

ClipWatch::ClipWatch(const Reader& source, const Writer& sink, const Plan& plan)
    : clipping_(clipping_of(source, sink, plan.chain, plan.specs, plan.arithmetic)) {
  if (clipping_ && !clipping_->is_possible()) clipping_.reset();
}

std::vector<Rect> ClipWatch::samples(const Plan& plan, const Rect& band) const {
  if (!clipping_) return {};
  const Unrounded unrounded(plan.chain, plan.specs.front(), plan.arithmetic);
  const bool all = plan.result().extent.area() <= kSmallArea;
  const Extent side{std::min(plan.tile.rows, kSampleSide), std::min(plan.tile.cols, kSampleSide)};
  if (tile_scratch_bytes(unrounded.chain, unrounded.specs, all ? plan.tile : side, plan.arithmetic) >
      plan.arena_bytes)
    return {};
  if (all) return tiles_of(band, plan.tile);
  const double work = tile_operations(unrounded.chain, unrounded.specs, side, Scratch::host);
  const std::vector<Rect> everywhere = middles(plan.result().extent);
  const auto most = static_cast<std::size_t>(std::clamp(kWorkShare * plan.operations / std::max(work, 1.0),
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

void ClipWatch::look(const Plan& plan, const Chain& chain, const ConstRegion& source, const Rect& sample,
                     Worker& worker) {
  const Unrounded unrounded(chain, plan.specs.front(), plan.arithmetic);
  const ImageSpec& spec = unrounded.specs.back();
  visit_arithmetic(plan.arithmetic, [&]<class A>(std::type_identity<A>) {
    std::vector<A> values(static_cast<std::size_t>(sample.area() * spec.channels));
    const PixelView view =
        dense_view(reinterpret_cast<std::byte*>(values.data()), {sample.extent(), spec.channels, spec.type});
    compute_tile(unrounded.chain, unrounded.specs, plan.arithmetic, source, {view, sample, spec.extent},
                 worker);
    const Seen seen = seen_in(values);
    const std::lock_guard lock(mutex_);
    seen_.add(seen);
  });
}

template <class A>
ClipWatch::Seen ClipWatch::seen_in(const std::vector<A>& values) const {
  Seen seen;
  for (const A value : values) {
    if (std::isnan(value)) continue;
    const double number = value;
    ++seen.count;
    seen.below += number < clipping_->held.low - 0.5;
    seen.above += number > clipping_->held.high + 0.5;
    seen.least = std::min(seen.least, number), seen.most = std::max(seen.most, number);
  }
  return seen;
}

void ClipWatch::Seen::add(const Seen& other) {
  count += other.count, below += other.below, above += other.above;
  least = std::min(least, other.least), most = std::max(most, other.most);
}

std::string ClipWatch::share_warning() const {
  std::string shares, stored;
  const auto say = [&](double count, const char* where, double limit) {
    if (count == 0) return;
    const bool first = shares.empty();
    const double percent = 100 * count / seen_.count;
    shares += fmt::format("{}{:.{}f} % {}{} {:.0f}", first ? "" : " and ", percent,
                          percent >= 9.95  ? 0
                          : percent >= 0.1 ? 1
                                           : 3,
                          first ? "of the values are " : "", where, limit);
    stored += fmt::format("{}{:.0f}", first ? "" : " and ", limit);
  };
  say(seen_.below, "below", clipping_->held.low);
  say(seen_.above, "above", clipping_->held.high);
  return fmt::format("{}, which {} does not hold: they become {} (by samples of {:.4g} to {:.4g}); {}",
                     shares, clipping_->type, stored, seen_.least, seen_.most, clipping_->way_out());
}

std::vector<std::string> ClipWatch::warnings() const {
  const std::lock_guard lock(mutex_);
  if (!clipping_ || seen_.count == 0) return {};
  const double share = (seen_.below + seen_.above) / seen_.count;
  // What is as often on either side of 0 loses its sign, however rare that is.
  const bool is_signed = clipping_->held.low == 0 && clipping_->made.low < -clipping_->made.high / 2;
  if (share >= kMinShare || (is_signed && share > 0)) return {share_warning()};
  const bool differ = seen_.most - seen_.least > 1e-6 * std::max(std::abs(seen_.least), std::abs(seen_.most));
  if (share == 0 && differ && std::nearbyint(seen_.least) == std::nearbyint(seen_.most))
    return {fmt::format(
        "all values are rounded to {:.0f} (by samples they are {:.4g} to {:.4g}), as {} holds whole "
        "numbers; cast:type={} at the end keeps them, in a format that has it (TIFF, NPY, Zarr)",
        std::nearbyint(seen_.least) + 0.0, seen_.least, seen_.most, clipping_->type,
        clipping_->arithmetic == Arithmetic::f64 ? "f64" : "f32")};
  return {};
}

}  // namespace sepconv
