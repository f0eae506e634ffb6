// Order statistics of a region: every pixel of the result is the element of a given rank under a window,
// which is a rectangle or, for volumes, a cuboid. Channels are separate. docs/maths.md states it for users.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

class SortingNetwork;

/// Extent of the window around its pixel.
struct RankWindow {
  std::int64_t left = 0, right = 0, up = 0, down = 0;
  std::int64_t front = 0, back = 0;  ///< planes of a volume before and after that of the pixel

  std::int64_t cols() const noexcept { return left + 1 + right; }
  std::int64_t rows() const noexcept { return up + 1 + down; }
  std::int64_t planes() const noexcept { return front + 1 + back; }
  /// Number of rows in all planes.
  std::int64_t lines() const noexcept { return rows() * planes(); }
  std::int64_t area() const noexcept { return lines() * cols(); }
  RankWindow transposed() const noexcept { return {up, down, left, right, front, back}; }
  /// The pixels of an image, or of each plane, that `out` depends on; not clipped. Symmetric, because borders
  /// may mirror.
  Rect needed(const Rect& out) const noexcept { return out.grown(std::max(up, down), std::max(left, right)); }
  friend bool operator==(const RankWindow&, const RankWindow&) = default;
};

/// Handling of NaN, which marks missing pixels.
enum class RankMissing : std::uint8_t {
  propagate,  ///< a window that contains NaN gives NaN
  ignore,     ///< NaN is skipped, but a pixel that is NaN stays NaN
  fill,       ///< NaN is skipped
};

/// Selects, among the n valid elements under a window of N pixels, the one of rank floor((2 rank + 1) n / (2
/// N)), ascending from 0; that is `rank` if none is missing. NaN if all are missing.
struct RankFilter {
  RankWindow window{};
  std::int64_t rank = 0;  ///< less than window.area()
  RankMissing missing = RankMissing::propagate;
  /// Sorts the values of small windows; null for larger windows and for a default RankFilter.
  std::shared_ptr<const SortingNetwork> network{};

  RankFilter() = default;
  RankFilter(const RankWindow& rank_window, std::int64_t ranked, RankMissing policy);

  std::int64_t rank_of(std::int64_t valid_count) const noexcept {
    return (2 * rank + 1) * valid_count / (2 * window.area());
  }
};

/// Maximum radius of a window: half of its largest side.
inline constexpr std::int64_t kMaxRankRadius = 1024;
/// Maximum number of pixels of a window.
inline constexpr std::int64_t kMaxRankArea = (2 * kMaxRankRadius + 1) * (2 * kMaxRankRadius + 1);
/// Windows of at most this many pixels have a network.
inline constexpr std::int64_t kMaxNetworkArea = 21 * 21;

/// Whether moving windows of u8 use column histograms, whose counts have 8 bits and sums 16, not bit sets.
inline bool uses_column_counts(const RankWindow& window) noexcept {
  return window.lines() <= 255 && window.area() <= 32767;
}

/// out = the ranked element of `in` extended by `border`, for the pixels of out.rect. Values are compared in
/// the arithmetic type, and a zero is +0; stored as docs/maths.md says. So all algorithms give the same bits.
///
/// Shape: `in.rect` contains filter.window.needed(out.rect), clipped to the image; in.image == out.image. Any
/// pixel types; channels equal. With BorderMode::wrap `in` is the whole image if the window reaches beyond
/// its edges. Throws InvalidArgument. The reference sorts each window separately.
///
/// For a volume `out` is one plane. `planes` are the filter.window.planes() planes under the window in order,
/// each shaped as `in` and of one type. Planes that the border repeats along z are listed again; planes of a
/// constant border have no pixels (data is null).
void rank_reference(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                    const Region& out, Arithmetic arithmetic);
inline void rank_reference(const RankFilter& filter, const Border& border, const ConstRegion& in,
                           const Region& out, Arithmetic arithmetic) {
  rank_reference(filter, border, {&in, 1}, out, arithmetic);
}

/// Same bits as rank_reference, but fast: sorting networks for small windows (3 x 3 and 5 x 5 medians in
/// registers), column histograms for u8, else a bit set over the ranks of all nearby elements. Scratch comes
/// from `worker`. Throws Cancelled when it is stopped.
void rank_host(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
               const Region& out, Arithmetic arithmetic, Worker& worker);
inline void rank_host(const RankFilter& filter, const Border& border, const ConstRegion& in,
                      const Region& out, Arithmetic arithmetic, Worker& worker) {
  rank_host(filter, border, {&in, 1}, out, arithmetic, worker);
}

/// Upper bound of the scratch bytes of rank_host for outputs up to extent `out`, from any type.
std::int64_t rank_scratch_bytes(const RankFilter& filter, Extent out, std::int64_t channels,
                                Arithmetic arithmetic);

/// Same bits on the current device. Enqueues on `stream` and returns immediately. Views and arena as for
/// convolve_device, `then` as for pointwise_device. Computes up to kMaxDeviceRankResults planes together: the
/// regions `outs` differ only in their data pointers, and the planes under the window of outs[i] begin at
/// planes[i]. There are up to kMaxDeviceRankPlanes planes under a window, all with the same rectangle and
/// pitch. Throws DeviceError too.
void rank_device(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                 std::span<const Region> outs, Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                 std::span<const PointwiseOp> then = {});

/// Limited because plane pointers are kernel arguments.
inline constexpr std::int64_t kMaxDeviceRankPlanes = 255, kMaxDeviceRankResults = 32;

/// Upper bound of the arena bytes of rank_device.
std::int64_t rank_device_bytes(const RankFilter& filter, std::int64_t channels, Arithmetic arithmetic);

/// Throws InvalidArgument unless the arguments are as required above. `wraps`: the implementation supports
/// BorderMode::wrap on a whole image.
void check_rank(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                const Region& out, bool wraps);
/// The same for rank_device.
void check_rank_on_device(const RankFilter& filter, const Border& border, std::span<const ConstRegion> planes,
                          std::span<const Region> outs);

}  // namespace sepconv
