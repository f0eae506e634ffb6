// median, percentile, rank: the element of one rank under a rectangular window.
#include "sepconv/kernels/order/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sepconv/core/count_text.hpp"
#include "sepconv/kernels/order/sorting_network.hpp"
#include "sepconv/pipeline/stages/blur_width.hpp"
#include "sepconv/pipeline/stages/f32_range.hpp"
#include "sepconv/pipeline/stages/filter_stage.hpp"
#include "sepconv/pipeline/stages/neighbourhood.hpp"
#include "sepconv/pipeline/stages/stages.hpp"

namespace sepconv {
namespace {

StageTraits traits_of(const Border& border, std::optional<MissingPolicy> missing) {
  const double values[] = {border.value};
  return {.needs_f64 = any_beyond_f32(values),
          .runs_on_device = true,
          .halo_share = 0,
          .growth = std::max(1.0, std::abs(border.value)),
          .settles_missing = missing.has_value(),
          .keeps_missing = !(missing == MissingPolicy::fill && border.mode == BorderMode::constant)};
}

class OrderStage final : public Stage {
 public:
  OrderStage(std::string text, OrderFilter filter, const Border& border, std::optional<MissingPolicy> missing)
      : Stage(traits_of(border, missing)),
        text_(std::move(text)),
        filter_(std::move(filter)),
        border_(border),
        missing_(missing) {}

  /// With " (transposed)" at the end of what transposed() makes.
  std::string text() const override { return text_; }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return within_image(border_.mode, filter_.window.needed(output), input.extent);
  }

  StagePtr transposed() const override {
    static constexpr std::string_view kMark = " (transposed)";
    std::string text =
        text_.ends_with(kMark) ? text_.substr(0, text_.size() - kMark.size()) : text_ + std::string(kMark);
    return std::make_shared<OrderStage>(
        std::move(text), OrderFilter(filter_.window.transposed(), filter_.rank, filter_.missing), border_,
        missing_);
  }

  StagePtr honouring_missing() const override {
    if (missing_) return shared_from_this();
    OrderFilter filter = filter_;
    filter.missing = OrderMissing::ignore;
    return std::make_shared<OrderStage>(
        text_ + (text_.find(':') == text_.npos ? ':' : ',') + "missing=ignore", std::move(filter), border_,
        MissingPolicy::ignore);
  }

  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return scratch == Scratch::device ? on_device(input) : on_host(input.type);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    if (scratch == Scratch::device) return order_device_bytes(filter_, input.channels, arithmetic);
    return order_scratch_bytes(filter_, output, input.channels, arithmetic);
  }

  void apply(const ConstRegion& given, const Region& result, Arithmetic arithmetic,
             Worker& worker) const override {
    const auto [in, out] = without_edges(given, result);
    order_host(filter_, border_, in, out, arithmetic, worker);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    order_reference(filter_, border_, in, out, arithmetic);
  }

  void enqueue(const ConstRegion& given, const Region& result, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, std::span<const PointwiseOp> then) const override {
    const auto [in, out] = without_edges(given, result);
    order_cuda(filter_, border_, in, out, arithmetic, arena, stream, then);
  }

 private:
  /// A window that moves counts each of its rows twice, some instructions each, or moves bits for them over
  /// ranks that lie far apart in memory.
  double on_host(PixelType type) const {
    constexpr double kCounts = 12, kMovesBits = 180;
    if (filter_.network) return static_cast<double>(filter_.network->operations());
    const bool counts = type == PixelType::u8 && counts_columns(filter_.window);
    return (counts ? kCounts : kMovesBits) * static_cast<double>(filter_.window.rows());
  }

  /// Values of a window are compared in shared memory, or read again for every bit.
  double on_device(const ImageSpec& input) const {
    constexpr double kComparison =
        21;  // in multiply-adds: docs/measurements/2026-11-25-gpu-codecs-and-ranks.md
    constexpr std::int64_t kInRegisters = 5 * 5;
    const Arithmetic arithmetic = input.type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32;
    const bool sorts = filter_.network && (filter_.window.area() <= kInRegisters ||
                                           order_device_bytes(filter_, input.channels, arithmetic) > 0);
    const double bits = 8.0 * static_cast<double>(size_of(input.type));
    return kComparison * (sorts ? static_cast<double>(filter_.network->operations())
                                : bits * static_cast<double>(filter_.window.area()));
  }

  Regions without_edges(const ConstRegion& in, const Region& out) const {
    return as_own_image(border_.mode, filter_.window.needed(out.rect), in, out);
  }

  std::string text_;
  OrderFilter filter_;
  Border border_;
  std::optional<MissingPolicy> missing_;
};

template <class Options>
Keys shifted_window_keys(Options& options) {
  Keys keys = radius_keys(options, kMostOrderRadius);
  for (Key& key : keys) key.not_with = "size";
  const KeyRange shift = between(-kMostOrderRadius, kMostOrderRadius);
  return joined(
      {std::move(keys),
       {{.name = "size",
         .value = &options.size,
         .words =
             "of the window, in place of radius; pixel size / 2 of it, from 0, is the one that it is for"},
        length_key("origin", &options.origin, "how far the window lies to the left", shift),
        length_key("origin_y", &options.origin_y, "how far it lies upwards", shift)},
       border_keys(options.border),
       {window_missing_key(options.missing)}});
}

/// Pixels before and after the one that a window of this size is for.
std::pair<std::int64_t, std::int64_t> around(const Spelling& spelling, std::string_view key,
                                             std::int64_t size, std::int64_t origin) {
  if (size > 2 * kMostOrderRadius + 1)
    spelling.refuse("size", fmt::format("a side exceeds {}", 2 * kMostOrderRadius + 1));
  const std::int64_t before = size / 2 + origin;
  if (before < 0 || before >= size) spelling.refuse(key, "the window would not hold its own pixel");
  return {before, size - 1 - before};
}

template <class Options>
OrderWindow window_of(const Options& options, const Spelling& spelling) {
  const Extent size = options.size.value_or(
      Extent{2 * options.radius_y.value_or(options.radius) + 1, 2 * options.radius + 1});
  const auto [left, right] = around(spelling, "origin", size.cols, options.origin);
  const auto [up, down] = around(spelling, "origin_y", size.rows, options.origin_y);
  return {left, right, up, down};
}

template <class Options>
StagePtr make_stage(const Options& options, const Spelling& spelling, const OrderWindow& window,
                    std::int64_t rank) {
  OrderMissing missing = OrderMissing::propagate;
  if (options.missing == MissingPolicy::ignore) missing = OrderMissing::ignore;
  if (options.missing == MissingPolicy::fill) missing = OrderMissing::fill;
  return std::make_shared<OrderStage>(spelling.text(), OrderFilter(window, rank, missing), options.border,
                                      options.missing);
}

Keys keys(MedianOptions& options) { return shifted_window_keys(options); }
Keys keys(PercentileOptions& options) {
  return joined({{{.name = "p",
                   .value = &options.p,
                   .words = "so many hundredths of the values come before it; 100: the greatest",
                   .unit = "%",
                   .range = between(0, 100),
                   .needed = true}},
                 shifted_window_keys(options)});
}
Keys keys(RankOptions& options) {
  const double most = static_cast<double>(2 * kMostOrderRadius + 1);
  return joined({{{.name = "rank",
                   .value = &options.rank,
                   .words = "so many of the values come before it; of -1 on, from the greatest",
                   .range = between(-most * most, most * most - 1),
                   .needed = true}},
                 shifted_window_keys(options)});
}

StagePtr make(const MedianOptions& options, const Spelling& spelling) {
  const OrderWindow window = window_of(options, spelling);
  return make_stage(options, spelling, window, window.area() / 2);
}

/// SciPy's rule.
StagePtr make(const PercentileOptions& options, const Spelling& spelling) {
  const OrderWindow window = window_of(options, spelling);
  const double rank = static_cast<double>(window.area()) * *options.p / 100;
  return make_stage(options, spelling, window, std::min(static_cast<std::int64_t>(rank), window.area() - 1));
}

StagePtr make(const RankOptions& options, const Spelling& spelling) {
  const OrderWindow window = window_of(options, spelling);
  const std::int64_t rank = *options.rank < 0 ? *options.rank + window.area() : *options.rank;
  if (rank < 0 || rank >= window.area())
    spelling.refuse("rank", "the window has " + count_text(window.area(), "value"));
  return make_stage(options, spelling, window, rank);
}

constexpr StageKind<MedianOptions> kMedian{
    "median", "middle value of (2 radius + 1) x (2 radius_y + 1) pixels", "median:radius=2", keys, make};
constexpr StageKind<PercentileOptions> kPercentile{"percentile",
                                                   "value that p % of those under the window come before",
                                                   "percentile:p=10,radius=4", keys, make};
constexpr StageKind<RankOptions> kRank{"rank", "value that so many of those under the window come before",
                                       "rank:rank=3,radius=1", keys, make};

}  // namespace

StagePtr median(const MedianOptions& options) { return kMedian(options); }
StagePtr percentile(const PercentileOptions& options) { return kPercentile(options); }
StagePtr rank(const RankOptions& options) { return kRank(options); }
StageEntry MedianOptions::entry() { return kMedian.entry(); }
StageEntry PercentileOptions::entry() { return kPercentile.entry(); }
StageEntry RankOptions::entry() { return kRank.entry(); }

}  // namespace sepconv
