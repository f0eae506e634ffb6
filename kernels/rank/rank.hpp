// Order statistics of a region: every pixel of the result is the element of one rank among those under a
// window that is a rectangle or, of volumes, a cuboid, each channel for itself. docs/maths.md states it for
// users.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

class SortingNetwork;

/// Pixels under the window besides the one that it is for.
struct RankWindow {
  std::int64_t left = 0, right = 0, up = 0, down = 0;
  std::int64_t front = 0, back = 0;  ///< planes of a volume before and after its own

  std::int64_t cols() const noexcept { return left + 1 + right; }
  std::int64_t rows() const noexcept { return up + 1 + down; }
  std::int64_t planes() const noexcept { return front + 1 + back; }
  /// Rows of all planes.
  std::int64_t lines() const noexcept { return rows() * planes(); }
  std::int64_t area() const noexcept { return lines() * cols(); }
  RankWindow transposed() const noexcept { return {up, down, left, right, front, back}; }
  /// For an image, or of each of the planes, what `out` depends on; not clipped. As far on both sides, because
  /// borders mirror.
  Rect needed(const Rect& out) const noexcept { return out.grown(std::max(up, down), std::max(left, right)); }
  friend bool operator==(const RankWindow&, const RankWindow&) = default;
};

/// What NaN does, which stands for a missing pixel.
enum class RankMissing : std::uint8_t {
  propagate,  ///< a window that has one makes NaN
  ignore,     ///< the others are ranked, and a pixel that is NaN stays so
  fill,       ///< the others are ranked
};

/// For the n elements under a window of N pixels that are there, the one of rank
/// floor((2 rank + 1) n / (2 N)), ascending from 0: `rank` where none is missing. NaN where none is there.
struct RankFilter {
  RankWindow window{};
  std::int64_t rank = 0;  ///< less than window.area()
  RankMissing missing = RankMissing::propagate;
  /// How values of few pixels are sorted; null for windows that have too many, and for none at all.
  std::shared_ptr<const SortingNetwork> network{};

  RankFilter() = default;
  RankFilter(const RankWindow& of, std::int64_t ranked, RankMissing policy);

  std::int64_t rank_of(std::int64_t there) const noexcept {
    return (2 * rank + 1) * there / (2 * window.area());
  }
};

/// Largest radius of a window; half of its largest side.
inline constexpr std::int64_t kMaxRankRadius = 1024;
/// Pixels of the largest window.
inline constexpr std::int64_t kMaxRankArea = (2 * kMaxRankRadius + 1) * (2 * kMaxRankRadius + 1);
/// Windows of at most this many pixels have a network.
inline constexpr std::int64_t kMaxSortedArea = 21 * 21;

/// Whether windows of u8 that move count values in columns, whose counts have 8 bits, and else move bits.
inline bool counts_columns(const RankWindow& window) noexcept {
  return window.lines() <= 255 && window.area() <= 32767;
}

/// out = the ranked element of `in` extended by `border`, for the pixels of out.rect. Values are compared as
/// numbers, in the arithmetic type, and a zero is +0; stored as docs/maths.md says. So all ways to find it
/// have the same bits.
///
/// Shape: `in.rect` holds filter.window.needed(out.rect), clipped to the image; in.image == out.image. Any
/// pixel types; channels equal. With BorderMode::wrap `in` is the whole image where the window reaches beyond
/// its edges. Throws InvalidArgument. The reference sorts each window by itself.
///
/// For a volume out is in one plane, and `planes` are those under the window, filter.window.planes() of them
/// in their order, each as `in`, of one type; what the border repeats along z is given again, and one that it
/// makes of its constant has no pixels (data is null).
void rank_reference(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                    const Region& out, Arithmetic arithmetic);
inline void rank_reference(const RankFilter& filter, const Border& border, const ConstRegion& in,
                           const Region& out, Arithmetic arithmetic) {
  rank_reference(filter, border, {&in, 1}, out, arithmetic);
}

/// The same, fast: sorting networks for small windows (medians of 3 x 3 and 5 x 5 in registers), histograms
/// of columns for u8, and else the window's elements as a set of bits that moves over the ranks of all
/// elements near. Scratch comes from `worker`. Throws Cancelled when that is to stop.
void rank_host(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
               const Region& out, Arithmetic arithmetic, Worker& worker);
inline void rank_host(const RankFilter& filter, const Border& border, const ConstRegion& in,
                      const Region& out, Arithmetic arithmetic, Worker& worker) {
  rank_host(filter, border, {&in, 1}, out, arithmetic, worker);
}

/// Upper bound of the scratch bytes of rank_host for outputs up to this extent, from any type.
std::int64_t rank_scratch_bytes(const RankFilter& filter, Extent out, std::int64_t channels,
                                Arithmetic arithmetic);

/// The same bits on the device that is current: enqueued on `stream`, returns at once. Views and arena as of
/// convolve_cuda, `then` as of pointwise_cuda. Results in up to kMaxDeviceRankResults planes are made at
/// once, `outs`, which are alike but for where they lie: of each the planes under the window begin one later
/// in `planes`. These, up to kMaxDeviceRankPlanes under a window, have pixels of one rectangle and one
/// pitch. Throws CudaError too.
void rank_cuda(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
               std::span<const Region> outs, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
               std::span<const PointwiseOp> then = {});

/// A kernel is told by value where planes lie.
inline constexpr std::int64_t kMaxDeviceRankPlanes = 255, kMaxDeviceRankResults = 32;

/// Upper bound of the arena bytes of rank_cuda.
std::int64_t rank_device_bytes(const RankFilter& filter, std::int64_t channels, Arithmetic arithmetic);

/// Throws InvalidArgument unless the arguments are as said above; `wraps`: the image's other edge is taken
/// where it is at hand.
void check_rank(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                const Region& out, bool wraps);
/// The same of rank_cuda.
void check_rank_on_device(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                          std::span<const Region> outs);

}  // namespace sepconv
