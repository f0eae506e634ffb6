// Minimum, maximum and sum of all pixels in a window; for boxes the cost hardly grows with the size.
// docs/maths.md states the mathematics, docs/decisions/0024 the reasons for the algorithms.
#pragma once

#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// A reduction of the (2 radius_x + 1) x (2 radius_y + 1) pixels around each pixel, or of a disk in these,
/// separately for each channel.
struct Window {
  enum class Op : std::uint8_t {
    minimum,  ///< -0 is below +0
    maximum,
    sum,  ///< along rows, then along columns; see sum_of_window()
  };
  Op op = Op::minimum;
  std::int64_t radius_x = 0, radius_y = 0;
  /// A disk contains the pixels with (x / radius_x)^2 + (y / radius_y)^2 <= 1; a radius of 0 gives a line.
  /// Sums support only boxes.
  enum class Shape : std::uint8_t { box, disk };
  Shape shape = Shape::box;
  /// true: NaN is skipped, and a minimum or maximum is NaN only if all pixels are. false: the result is NaN
  /// if the window contains one.
  bool ignores_nan = false;
  /// The summands.
  enum class Of : std::uint8_t {
    values,
    squares,  ///< each rounded once
    ones,     ///< counts the pixels; with ignores_nan only those that are not NaN
  };
  Of of = Of::values;
  /// Power of two that each value or one is multiplied by before summation, so that sums of values near the
  /// type's maximum do not overflow. The divisor applies to the scaled sum.
  double unit = 1;
  /// Sums are divided by this.
  double divisor = 1;
  /// Sums along columns first: same bits as those of the transposed image, transposed back.
  bool columns_first = false;
};

/// out = the window's value at each pixel of out.rect, over `in` extended by `border`.
///
/// Shape: `in.rect` contains out.rect grown by (radius_y, radius_x) and clipped to the image; in.image ==
/// out.image. Any pixel types; channels equal. Arithmetic: sums are computed and divided in `arithmetic`;
/// minima and maxima are exact. Stores as in conv.hpp. This is the reference, written to be read.
///
/// BorderMode::wrap reads pixels of the opposite edge. The reference supports it if `in` is the whole image.
/// The others need an image that already contains the wrapped pixels, and otherwise throw InvalidArgument.
void window_reference(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                      Arithmetic arithmetic);

/// Same bits as window_reference, but fast. Scratch comes from `worker` and is released on return. If `out`
/// is written past the caches, its stores are complete on return.
void window_host(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                 Arithmetic arithmetic, Worker& worker);

/// Upper bound of window_host's arena bytes for outputs up to extent `out` in images up to `image`.
std::int64_t window_scratch_bytes(const Window& window, Extent out, std::int64_t channels,
                                  Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

/// Same bits on the current device. Enqueues on `stream` and returns immediately. Views and arena are
/// device memory that must stay valid until the stream has completed the work; the arena's space is released
/// on return and may be reused by later work on the same stream. `then` as for pointwise_device. Radii are at
/// most kMaxDeviceWindowRadius. Throws InvalidArgument and DeviceError.
void window_device(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                   Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                   std::span<const PointwiseOp> then = {});

inline constexpr std::int64_t kMaxDeviceWindowRadius = 2047;
/// For disks, whose cost grows with the radius.
inline constexpr std::int64_t kMaxDiskRadius = 2047;

/// Upper bound of window_device's arena bytes for outputs up to extent `out` in images up to `image`.
std::int64_t window_device_bytes(const Window& window, Extent out, std::int64_t channels,
                                 Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

/// The pairwise sum of `count` neighbours: the sum of the first 2^k, the largest power of two below `count`,
/// plus that of the others, recursively. value(i) is neighbour i. The result does not depend on the position
/// in the image, and its rounding error grows with the logarithm of `count`.
template <class A, class Value>
A sum_of_window(std::int64_t count, const Value& value, std::int64_t first = 0) {
  if (count == 1) return value(first);
  std::int64_t half = 1;
  while (2 * half < count) half *= 2;
  return sum_of_window<A>(half, value, first) + sum_of_window<A>(count - half, value, first + half);
}

/// The window's sum over an image of ones, in the window's unit.
double window_ones_sum(const Window& window, Arithmetic arithmetic);

}  // namespace sepconv
