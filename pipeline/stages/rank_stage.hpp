// Rank filter: the element of one rank in a window. Private to pipeline/stages.
#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "kernels/rank/rank.hpp"
#include "kernels/rank/sorting_network.hpp"
#include "pipeline/chain/stage.hpp"
#include "pipeline/stages/f32_range.hpp"
#include "pipeline/stages/neighbourhood.hpp"
#include "pipeline/stages/nodata_policy.hpp"
#include "pipeline/stages/stage_text.hpp"

namespace sepconv {

/// For a window over several planes this stage describes the filter, and make_rank_on_volume() computes it.
class RankStage final : public Stage {
 public:
  RankStage(std::string text, RankFilter filter, const Border& border, std::optional<MissingPolicy> missing)
      : Stage(declaration_of(std::move(text), border, missing)),
        filter_(std::move(filter)),
        border_(border),
        missing_(missing) {}

  const RankFilter& filter() const noexcept { return filter_; }
  const Border& border() const noexcept { return border_; }

  Rect input_for(const Rect& output, const ImageSpec& input) const override {
    return within_image(border_.mode, filter_.window.needed(output), input.extent);
  }

  StagePtr transposed() const override {
    return std::make_shared<RankStage>(toggle_suffix(text(), " (transposed)"),
                                       RankFilter(filter_.window.transposed(), filter_.rank, filter_.missing),
                                       border_, missing_);
  }

  StagePtr with_nodata() const override {
    if (missing_) return shared_from_this();
    RankFilter filter = filter_;
    filter.missing = RankMissing::ignore;
    return std::make_shared<RankStage>(
        text() + (text().find(':') == text().npos ? ':' : ',') + "nodata=ignore", std::move(filter), border_,
        MissingPolicy::ignore);
  }

  double operations_per_element(Scratch scratch, const ImageSpec& input) const override {
    return scratch == Scratch::device ? device_operations(input) : host_operations(input.type);
  }

  std::int64_t scratch_bytes(Scratch scratch, Extent output, const ImageSpec& input,
                             Arithmetic arithmetic) const override {
    if (scratch == Scratch::device) return rank_device_bytes(filter_, input.channels, arithmetic);
    return rank_scratch_bytes(filter_, output, input.channels, arithmetic);
  }

  void apply(const ConstRegion& source, const Region& result, Arithmetic arithmetic,
             Worker& worker) const override {
    const auto [in, out] = without_edges(source, result);
    rank_host(filter_, border_, in, out, arithmetic, worker);
  }

  void apply_reference(const ConstRegion& in, const Region& out, Arithmetic arithmetic) const override {
    rank_reference(filter_, border_, in, out, arithmetic);
  }

  void enqueue(const ConstRegion& source, const Region& result, Arithmetic arithmetic, Arena& arena,
               DeviceStream stream, const Epilogue& epilogue) const override {
    const auto [in, out] = without_edges(source, result);
    rank_device(filter_, border_, {&in, 1}, {&out, 1}, arithmetic, arena, stream, epilogue.ops);
  }

 private:
  static StageDeclaration declaration_of(std::string text, const Border& border,
                                         std::optional<MissingPolicy> missing) {
    const double values[] = {border.value};
    const bool fills = missing == MissingPolicy::fill && border.mode == BorderMode::constant;
    return {.text = std::move(text),
            .traits = {.work = {.halo_fraction = 0},
                       .nan = {.propagates = !fills, .max_gain = std::max(1.0, std::abs(border.value))}},
            .properties = {.needs_f64 = any_beyond_f32(values),
                           .runs_on_device = true,
                           .device_kernels = DeviceKernels::ranks,
                           .handles_nodata = missing.has_value(),
                           .is_selection = true}};
  }

  /// In multiply-adds. A network works on vectors. A moving window updates counts for each of its rows twice,
  /// at some instructions each, or sets bits for ranks that are far apart in memory, in u8 in the caches.
  /// Measured with medians of radius 3 to 50 on two threads.
  double host_operations(PixelType type) const {
    constexpr double kCountingStart = 250, kCountingCost = 9, kBitMovingCost = 170, kByteMovingCost = 35;
    const bool is_u8 = type == PixelType::u8;
    const double per_comparison = is_u8 ? 0.3 : size_of(type) == 2 ? 0.8 : 1.2;
    if (filter_.network) return per_comparison * static_cast<double>(filter_.network->operations());
    const auto lines = static_cast<double>(filter_.window.lines());
    if (is_u8 && uses_column_counts(filter_.window)) return kCountingStart + kCountingCost * lines;
    return (is_u8 ? kByteMovingCost : kBitMovingCost) * lines;
  }

  /// The values of a window are compared in shared memory, or read again for every bit.
  double device_operations(const ImageSpec& input) const {
    // In multiply-adds: docs/measurements/2026-11-25-gpu-codecs-and-ranks.md, and medians of radius 10 and 30.
    constexpr double kSorted = 21, kSearched = 16;
    constexpr std::int64_t kInRegisters = 3 * 3 * 3;
    const Arithmetic arithmetic = input.type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32;
    const bool sorts = filter_.network && (filter_.window.area() <= kInRegisters ||
                                           rank_device_bytes(filter_, input.channels, arithmetic) > 0);
    const double bits = 8.0 * static_cast<double>(size_of(input.type));
    return sorts ? kSorted * static_cast<double>(filter_.network->operations())
                 : kSearched * bits * static_cast<double>(filter_.window.area());
  }

  Regions without_edges(const ConstRegion& in, const Region& out) const {
    return as_separate_image(border_.mode, filter_.window.needed(out.rect), in, out);
  }

  RankFilter filter_;
  Border border_;
  std::optional<MissingPolicy> missing_;
};

}  // namespace sepconv
