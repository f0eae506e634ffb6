// Pixelwise operations. `in` and `out` have equal extents and any pixel types; `arithmetic` as in conv.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/image.hpp"
#include "core/memory.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv {

/// An operation on one element of each input (a: first, b: second). NaN marks a missing pixel; a NaN that an
/// operation produces is the quiet NaN without payload.
struct PointwiseOp {
  enum class Kind : std::uint8_t {
    copy,          ///< a
    scale,         ///< fma(a, p, q)
    clamp,         ///< min(max(a, p), q); NaN stays NaN
    absolute,      ///< |a|
    threshold,     ///< a > p ? q : r; NaN compares false
    round_to,      ///< rounded half to even and saturated to `type`, as a store to that type would; f32, f64:
                   ///< rounded to that precision
    mark_missing,  ///< a == p ? NaN : a
    zero_missing,  ///< a is NaN ? 0 : a
    weight,        ///< a is NaN ? 0 : 1
    store_missing,  ///< a is NaN ? p : x == p ? q : x, with x as round_to
    magnitude,      ///< sqrt(fma(a, a, b * b))
    sum,            ///< a + b
    difference,     ///< a - b
    unsharp,        ///< d = a - b; |d| >= q ? fma(p, d, a) : a      (a: source, b: blurred; p: amount, q:
                    ///< threshold)
    keep_missing,   ///< a is NaN ? NaN : b
    fill_missing,   ///< a is NaN ? b : a
    keep_equal,     ///< b == p ? a : NaN
    quotient,       ///< a / b
    renormalise,    ///< b == p ? a : b > 0 ? a * (p / b) : NaN; NaN stays as it is      (a: weighted sum of
                    ///< valid pixels; b: of its weights; p: of all weights)
    product,        ///< a * b; this and the next three combine two images; see fuses_into_convolution()
    lesser,         ///< b < a ? b : a
    greater,        ///< b > a ? b : a
    mix,            ///< fma(a, p, b * q)
  };
  Kind kind = Kind::copy;
  double p = 0, q = 0, r = 0;
  PixelType type = PixelType::f32;
  bool propagates_nodata = false;  ///< the result is NaN if a is, or b of a binary operation

  bool binary() const noexcept { return kind >= Kind::magnitude; }
  /// Whether a convolution on a device can apply this binary operation (ConvolutionEpilogue::join).
  bool fuses_into_convolution() const noexcept { return binary() && kind < Kind::product; }
};

/// p, q and r are rounded once to the arithmetic type. Stores as in conv.hpp. `b` is ignored unless
/// op.binary(). No allocation; `out` may be `a` or `b` itself (same data, type and pitch).
void pointwise_reference(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                         const PixelView& out, Arithmetic arithmetic);
void pointwise_host(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                    const PixelView& out, Arithmetic arithmetic);

/// Maximum number of unary operations that one launch applies in sequence.
inline constexpr std::size_t kMaxFusedOps = 8;

/// Bit-identical on the current device: enqueued on `stream`, returns immediately. Views are device memory
/// and must stay valid until the stream has executed the work. `fused_ops`: unary operations, at most
/// kMaxFusedOps, that are applied to the result before it is stored. Throws InvalidArgument and DeviceError.
void pointwise_device(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b,
                      const PixelView& out, Arithmetic arithmetic, DeviceStream stream,
                      std::span<const PointwiseOp> fused_ops = {});

/// A channel mixing matrix: out_channels x in_channels coefficients, row-major, and one offset per output
/// channel.
struct ChannelMatrix {
  std::int64_t out_channels = 0;
  std::int64_t in_channels = 0;
  std::vector<double> coefficients;
  std::vector<double> offsets;
};

/// Per pixel and output channel i: acc = offset[i]; for j ascending: acc = fma(m[i][j], x[j], acc).
void mix_channels_reference(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                            Arithmetic arithmetic);
void mix_channels_host(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                       Arithmetic arithmetic);
/// As pointwise_device. At most kMaxDeviceMatrix coefficients and offsets.
void mix_channels_device(const ChannelMatrix& matrix, const ConstPixelView& in, const PixelView& out,
                         Arithmetic arithmetic, DeviceStream stream,
                         std::span<const PointwiseOp> fused_ops = {});

inline constexpr std::int64_t kMaxDeviceMatrix = 3600;

}  // namespace sepconv
