// The least, the largest and the sum of all pixels in a window, of a box at a cost that hardly grows with
// it: the mathematics that docs/maths.md states for users, docs/decisions/0024 why it is done so.
#pragma once

#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "core/worker.hpp"
#include "kernels/conv/border.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// What is made of the (2 radius_x + 1) x (2 radius_y + 1) pixels around each pixel, or of a disk in these,
/// channel by channel.
struct Window {
  enum class Op : std::uint8_t {
    minimum,  ///< -0 is below +0
    maximum,
    sum,  ///< along rows, then of these along columns; see sum_of_window()
  };
  Op op = Op::minimum;
  std::int64_t radius_x = 0, radius_y = 0;
  /// Which of the pixels count: a disk has those with (x / radius_x)^2 + (y / radius_y)^2 <= 1, all of a line
  /// where a radius is 0. Sums are of boxes.
  enum class Shape : std::uint8_t { box, disk };
  Shape shape = Shape::box;
  /// NaN counts for nothing, and a least or greatest value is NaN where there is nothing else; or the result
  /// is NaN wherever the window has one.
  bool ignores_nan = false;
  /// What sums are of.
  enum class Of : std::uint8_t {
    values,
    squares,  ///< each rounded once
    ones,     ///< this many as there are pixels; with ignores_nan those that are not NaN
  };
  Of of = Of::values;
  /// For sums of values and of ones: each is multiplied by this power of two before, so that a sum of values
  /// near a type's largest is one that the type has. The divisor is of what is made then.
  double unit = 1;
  /// For sums, which are divided by this.
  double divisor = 1;
  /// For sums, which are made along columns first: those of the transposed image, transposed back, to the bit.
  bool columns_first = false;
};

/// out = the window's value at each pixel of out.rect, of `in` extended by `border`.
///
/// Shape: `in.rect` holds out.rect grown by (radius_y, radius_x) and clipped to the image; in.image ==
/// out.image. Any pixel types; channels equal. Arithmetic: sums are made in `arithmetic`, and divided in it;
/// least and greatest are exact. Stores as in conv.hpp. The reference: meant to be read.
///
/// BorderMode::wrap brings pixels of the other edge: the reference has them where `in` is the whole image.
/// The others are given an image that holds what lies beyond the edges, and throw InvalidArgument else.
void window_reference(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                      Arithmetic arithmetic);

/// The same bits, fast. Scratch comes from `worker` and is given back on return. Stores of an `out` past the
/// caches are complete on return.
void window_host(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                 Arithmetic arithmetic, Worker& worker);

/// Upper bound of the arena bytes of window_host for outputs up to this extent in images up to `image`.
std::int64_t window_scratch_bytes(const Window& window, Extent out, std::int64_t channels,
                                  Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

/// The same bits on the device that is current: enqueued on `stream`, returns at once. Views and arena are
/// device memory that stays valid until the stream has passed; the arena's space is given back on return and
/// may be used again by work that comes later on the same stream. `then` as for pointwise_cuda. Radii are at
/// most kMaxDeviceWindowRadius.
/// Throws InvalidArgument and CudaError.
void window_cuda(const Window& window, const Border& border, const ConstRegion& in, const Region& out,
                 Arithmetic arithmetic, Arena& arena, DeviceStream stream,
                 std::span<const PointwiseOp> then = {});

inline constexpr std::int64_t kMaxDeviceWindowRadius = 2047;
/// For disks, whose cost grows with the radius.
inline constexpr std::int64_t kMaxDiskRadius = 2047;

/// Upper bound of the arena bytes of window_cuda for outputs up to this extent in images up to `image`.
std::int64_t window_device_bytes(const Window& window, Extent out, std::int64_t channels,
                                 Arithmetic arithmetic, Extent image = {kMaxSide, kMaxSide});

/// The sum of this many neighbours: the sum of the first 2^k of them, 2^k being the largest power of two below
/// `count`, plus that of the others, each made likewise. value(i) is neighbour i. So it does not depend on
/// where in an image it is made, and its rounding error grows with the logarithm of `count`.
template <class A, class Value>
A sum_of_window(std::int64_t count, const Value& value, std::int64_t first = 0) {
  if (count == 1) return value(first);
  std::int64_t half = 1;
  while (2 * half < count) half *= 2;
  return sum_of_window<A>(half, value, first) + sum_of_window<A>(count - half, value, first + half);
}

/// The sum of as many ones as the window has pixels, as it is made of an image of ones, in the window's unit.
double ones_of_window(const Window& window, Arithmetic arithmetic);

}  // namespace sepconv
