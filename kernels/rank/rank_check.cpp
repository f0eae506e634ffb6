#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.hpp"
#include "kernels/rank/rank.hpp"
#include "kernels/rank/sorting_network.hpp"

namespace sepconv {
namespace {

/// Whether windows are small enough for a network for any type; RankTuning decides for which.
bool is_small(const RankWindow& window) { return window.area() <= kMaxNetworkArea; }

}  // namespace

RankFilter::RankFilter(const RankWindow& rank_window, std::int64_t ranked, RankMissing policy)
    : window(rank_window), rank(ranked), missing(policy) {
  if (std::min({rank_window.left, rank_window.right, rank_window.up, rank_window.down}) < 0 ||
      std::max({rank_window.left, rank_window.right, rank_window.up, rank_window.down}) >
          2 * kMaxRankRadius ||
      std::max(rank_window.cols(), rank_window.rows()) > 2 * kMaxRankRadius + 1)
    throw InvalidArgument(
        fmt::format("a window of {} x {} pixels is empty, or larger than {} on a side; take a smaller one",
                    rank_window.cols(), rank_window.rows(), 2 * kMaxRankRadius + 1));
  if (std::min(rank_window.front, rank_window.back) < 0 || rank_window.planes() > 2 * kMaxRankRadius + 1 ||
      rank_window.area() > kMaxRankArea)
    throw InvalidArgument(fmt::format(
        "a window of {} x {} x {} pixels is empty, or larger than {} on a side or {} in all; take a smaller "
        "one",
        rank_window.cols(), rank_window.rows(), rank_window.planes(), 2 * kMaxRankRadius + 1, kMaxRankArea));
  if (ranked < 0 || ranked >= rank_window.area())
    throw InvalidArgument(fmt::format("rank {} is not one of {} values; give 0 to {}", ranked,
                                      rank_window.area(), rank_window.area() - 1));
  if (is_small(rank_window))
    network = std::make_shared<SortingNetwork>(rank_window.lines(), rank_window.cols(), ranked);
}

namespace {

void check_plane(const RankFilter& filter, const Border& border, const ConstRegion& in, const Region& out,
                 bool wraps) {
  if (in.pixels.channels != out.pixels.channels)
    throw InvalidArgument(fmt::format("a rank of {} channels cannot produce {}: give the same number",
                                      in.pixels.channels, out.pixels.channels));
  const Rect whole = Rect::whole(out.image), wanted = filter.window.needed(out.rect);
  const Rect needed = wanted.intersect(whole);
  const bool inside =
      border.mode != BorderMode::wrap || whole.contains(wanted) || (wraps && in.rect == whole);
  if (in.image != out.image || !in.rect.contains(needed) || !whole.contains(out.rect) || !inside ||
      in.pixels.extent != in.rect.extent() || out.pixels.extent != out.rect.extent())
    throw InvalidArgument(fmt::format("a rank of {} needs the input's {} but was given {}",
                                      to_string(out.rect), to_string(inside ? needed : wanted),
                                      to_string(in.rect)));
}

}  // namespace

void check_rank(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                const Region& out, bool wraps) {
  const auto front = static_cast<std::size_t>(filter.window.front);
  const bool fits = std::ssize(planes) == filter.window.planes() && planes[front].pixels.data != nullptr;
  const auto is_plane_valid = [&](const ConstRegion& plane) {
    if (plane.pixels.data == nullptr) return border.mode == BorderMode::constant;
    check_plane(filter, border, plane, out, wraps);
    return plane.pixels.type == planes[front].pixels.type;
  };
  if (!fits || !std::ranges::all_of(planes, is_plane_valid))
    throw InvalidArgument(
        fmt::format("a rank of {} planes needs the same number of planes of one type but "
                    "was given {}",
                    filter.window.planes(), planes.size()));
}

void check_rank_on_device(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                          std::span<const Region> outs) {
  const std::int64_t window_planes = filter.window.planes(), results = std::ssize(outs);
  const bool within_limits =
      results > 0 && results <= kMaxDeviceRankResults && window_planes <= kMaxDeviceRankPlanes;
  if (!within_limits || std::ssize(planes) != window_planes + results - 1)
    throw InvalidArgument(fmt::format(
        "ranks on a GPU support up to {} planes under a window and up to {} results together; use the CPU",
        kMaxDeviceRankPlanes, kMaxDeviceRankResults));
  const ConstRegion& centre = planes[static_cast<std::size_t>(filter.window.front)];
  const auto same_layout = [](const auto& a, const auto& b) {
    return a.rect == b.rect && a.image == b.image && a.pixels.pitch_bytes == b.pixels.pitch_bytes &&
           a.pixels.type == b.pixels.type && a.pixels.channels == b.pixels.channels;
  };
  const auto matches_centre = [&](const ConstRegion& plane) {
    return plane.pixels.data == nullptr || same_layout(plane, centre);
  };
  const auto matches_first = [&](const Region& out) { return same_layout(out, outs.front()); };
  if (!std::ranges::all_of(planes, matches_centre) || !std::ranges::all_of(outs, matches_first))
    throw InvalidArgument(
        "planes on a GPU must have the same rectangle, type and pitch; use the CPU for "
        "others");
  for (std::size_t i = 0; i < outs.size(); ++i)
    check_rank(filter, border, planes.subspan(i, static_cast<std::size_t>(window_planes)), outs[i], true);
}

}  // namespace sepconv
