// A channel that says which pixels are missing, or how much of them there is: alpha. `in` and `out` have
// equal shapes; any pixel types; `arithmetic` and stores as in pointwise.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "kernels/pointwise/missing.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// What is done to a pixel x with elements x[c], of which x[channel] is alpha.
struct AlphaOp {
  enum class Kind : std::uint8_t {
    hide,     ///< every element is NaN if alpha is 0 or NaN; of the others those that are p are
    store,    ///< for an `out` of `type`. Alpha: 0 if it is NaN; else itself, or what is least above 0 if it
              ///< would not be stored as more than 0. The others: p if alpha is NaN; r if they are; q if they
              ///< would be stored as p; else themselves
    rescale,  ///< alpha is alpha * p / r; the others are themselves
    // Every element is p where alpha would not be stored as `type` as more than 0. Elsewhere alpha is itself,
    // and the others are
    multiply,  ///< multiplied by alpha / r
    divide,    ///< divided by alpha / r
    clear,     ///< themselves
  };
  Kind kind = Kind::hide;
  std::int64_t channel = 0;
  double p = 0, q = 0, r = 0;  ///< hide: a p of NaN is not a value; multiply, divide, rescale: r is opaque
  PixelType type = PixelType::u8;  ///< of what is stored

  friend bool operator==(const AlphaOp&, const AlphaOp&) = default;
};

/// `out` may be `in` (same data, type and pitch). Allocates some KiB. Throws InvalidArgument.
void alpha_host(const AlphaOp& op, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic);
/// As mix_channels_cuda, but for `out`, which is not `in`.
void alpha_cuda(const AlphaOp& op, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic,
                DeviceStream stream, std::span<const PointwiseOp> fused_ops = {});

/// Alpha, a channel, becomes in `out` what it is in `in`, and stays NaN where it is that.
void keep_alpha_host(std::int64_t channel, const ConstPixelView& in, const PixelView& out,
                     Arithmetic arithmetic);
/// As alpha_cuda; `fused_ops` is applied to all of `out`.
void keep_alpha_cuda(std::int64_t channel, const ConstPixelView& in, const PixelView& out,
                     Arithmetic arithmetic, DeviceStream stream, std::span<const PointwiseOp> fused_ops = {});

/// What of `pixels`, in host memory, a hide operation leaves: with no p it looks at alpha alone. NaN in other
/// channels of floating pixels is missing, too.
ValidMask presence_of(const ConstPixelView& pixels, const AlphaOp& hide);

}  // namespace sepconv
