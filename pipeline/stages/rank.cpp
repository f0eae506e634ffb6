// median, percentile, rank: the element of one rank in a window, which may span several planes of a stack.
#include <fmt/format.h>

#include <algorithm>

#include "core/count_text.hpp"
#include "pipeline/stages/rank_volume.hpp"
#include "pipeline/stages/sigma_keys.hpp"
#include "pipeline/stages/stages.hpp"
#include "pipeline/stages/volume_filter_stage.hpp"

namespace sepconv {
namespace {

template <class Options>
Keys z_keys(Options& options, const KeyRange& shift) {
  Key radius = radius_z_key(options.radius_z, kEachPlaneSeparately, "", kMaxRankRadius);
  radius.not_with = "size_z";
  return {std::move(radius),
          length_key("size_z", &options.size_z, "planes of the window, in place of radius_z",
                     between(1, 2 * kMaxRankRadius + 1)),
          length_key("origin_z", &options.origin_z, "shift of the window towards the first plane; default 0",
                     shift)};
}

template <class Options>
Keys shifted_window_keys(Options& options) {
  Keys keys = radius_keys(options, kMaxRankRadius);
  for (Key& key : keys) key.not_with = "size";
  const KeyRange shift = between(-kMaxRankRadius, kMaxRankRadius);
  return joined(
      {std::move(keys),
       {{.name = "size",
         .value = &options.size,
         .words =
             "COLSxROWS of the window, in place of radius; its center is pixel size / 2, counted from 0"},
        length_key("origin", &options.origin, "shift of the window to the left", shift),
        length_key("origin_y", &options.origin_y, "shift of the window upwards", shift)},
       z_keys(options, shift),
       border_keys(options.border),
       {nodata_key(options.nodata)}});
}

/// Pixels before and after the reference pixel of a window with this size and origin.
std::pair<std::int64_t, std::int64_t> split_size(const StageArguments& stage_args, std::string_view key,
                                                 std::int64_t size, std::int64_t origin) {
  if (size > 2 * kMaxRankRadius + 1)
    stage_args.refuse("size", fmt::format("a side exceeds {}", 2 * kMaxRankRadius + 1));
  const std::int64_t before = size / 2 + origin;
  if (before < 0 || before >= size)
    stage_args.refuse(key, "the window would not contain its reference pixel");
  return {before, size - 1 - before};
}

template <class Options>
RankWindow window_of(const Options& options, const StageArguments& stage_args) {
  const Extent size = options.size.value_or(
      Extent{2 * options.radius_y.value_or(options.radius) + 1, 2 * options.radius + 1});
  const std::int64_t planes = options.size_z.value_or(2 * options.radius_z.value_or(0) + 1);
  const auto [left, right] = split_size(stage_args, "origin", size.cols, options.origin);
  const auto [up, down] = split_size(stage_args, "origin_y", size.rows, options.origin_y);
  const auto [front, back] = split_size(stage_args, "origin_z", planes, options.origin_z.value_or(0));
  const RankWindow window{left, right, up, down, front, back};
  if (window.area() > kMaxRankArea)
    stage_args.refuse(options.size_z ? "size_z" : "radius_z",
                      fmt::format("the window would have more than {} values", kMaxRankArea));
  return window;
}

RankMissing missing_of(std::optional<MissingPolicy> missing) {
  if (missing == MissingPolicy::ignore) return RankMissing::ignore;
  return missing == MissingPolicy::fill ? RankMissing::fill : RankMissing::propagate;
}

/// A window over planes.
StagePtr make_volume_rank(const std::shared_ptr<const RankStage>& stage, const StagePtr& in_plane) {
  const auto nodes = [stage](const ImageSpec& plane, const VolumeShape&) {
    return std::vector<StageNode>{{make_rank_on_volume(stage, plane.extent)}};
  };
  const auto with_nodata = [stage, in_plane] {
    return make_volume_rank(std::static_pointer_cast<const RankStage>(stage->with_nodata()),
                            in_plane->with_nodata());
  };
  return make_volume_filter_stage(stage->declaration(), {in_plane, nodes, with_nodata});
}

/// For stacks: the window over planes, with an in-plane stage of the same relative rank.
template <class Options>
StagePtr make_stage(const Options& options, const StageArguments& stage_args, const RankWindow& window,
                    std::int64_t rank) {
  const RankMissing missing = missing_of(options.nodata);
  const auto stage_of = [&](const RankWindow& size, std::int64_t order) {
    return std::make_shared<RankStage>(stage_args.text(), RankFilter(size, order, missing), options.border,
                                       options.nodata);
  };
  const auto stage = stage_of(window, rank);
  if (!options.radius_z && !options.size_z) return stage;
  const RankWindow in_plane{window.left, window.right, window.up, window.down};
  return make_volume_rank(stage, stage_of(in_plane, stage->filter().rank_of(in_plane.area())));
}

Keys keys(MedianOptions& options) { return shifted_window_keys(options); }
Keys keys(PercentileOptions& options) {
  return joined({{{.name = "percent",
                   .value = &options.percent,
                   .words = "50 is the median, 100 the maximum",
                   .unit = "%",
                   .range = between(0, 100),
                   .needed = true,
                   .former_name = "p"}},
                 shifted_window_keys(options)});
}
Keys keys(RankOptions& options) {
  const double max_size = static_cast<double>(2 * kMaxRankRadius + 1);
  return joined({{{.name = "rank",
                   .value = &options.rank,
                   .words = "0 is the smallest value; negative ranks count from the largest, -1",
                   .range = between(-max_size * max_size, max_size * max_size - 1),
                   .needed = true}},
                 shifted_window_keys(options)});
}

StagePtr make(const MedianOptions& options, const StageArguments& stage_args) {
  const RankWindow window = window_of(options, stage_args);
  return make_stage(options, stage_args, window, window.area() / 2);
}

/// The rank follows scipy.ndimage.percentile_filter.
StagePtr make(const PercentileOptions& options, const StageArguments& stage_args) {
  const RankWindow window = window_of(options, stage_args);
  const double rank = static_cast<double>(window.area()) * *options.percent / 100;
  return make_stage(options, stage_args, window,
                    std::min(static_cast<std::int64_t>(rank), window.area() - 1));
}

StagePtr make(const RankOptions& options, const StageArguments& stage_args) {
  const RankWindow window = window_of(options, stage_args);
  const std::int64_t rank = *options.rank < 0 ? *options.rank + window.area() : *options.rank;
  if (rank < 0 || rank >= window.area())
    stage_args.refuse("rank", "the window has " + count_text(window.area(), "value"));
  return make_stage(options, stage_args, window, rank);
}

constexpr StageKind<MedianOptions> kMedian{"median",
                                           "median of a window of (2 radius + 1) x (2 radius_y + 1) pixels",
                                           "median:radius=2", keys, make};
constexpr StageKind<PercentileOptions> kPercentile{"percentile", "percentile of the values in the window",
                                                   "percentile:percent=10,radius=4", keys, make};
constexpr StageKind<RankOptions> kRank{"rank", "k-th smallest value in the window", "rank:rank=3,radius=1",
                                       keys, make};

}  // namespace

StagePtr median(const MedianOptions& options) { return kMedian(options); }
StagePtr percentile(const PercentileOptions& options) { return kPercentile(options); }
StagePtr rank(const RankOptions& options) { return kRank(options); }
StageEntry MedianOptions::entry() { return kMedian.entry(); }
StageEntry PercentileOptions::entry() { return kPercentile.entry(); }
StageEntry RankOptions::entry() { return kRank.entry(); }

}  // namespace sepconv
