// Operations on an alpha channel, which marks missing pixels or gives their opacity. `in` and `out` have
// equal shapes and any pixel types; `arithmetic` and stores as in pointwise.hpp.
#pragma once

#include <cstdint>
#include <span>

#include "core/image.hpp"
#include "kernels/pointwise/missing.hpp"
#include "kernels/pointwise/pointwise.hpp"

namespace sepconv {

/// An operation on a pixel x with elements x[c]; x[channel] is alpha.
struct AlphaOp {
  enum class Kind : std::uint8_t {
    hide,     ///< every element becomes NaN if alpha is 0 or NaN; otherwise colour elements equal to p do
    store,    ///< for an `out` of `type`. Alpha: 0 if NaN; the smallest positive value if it would be stored
              ///< as 0; otherwise unchanged. Colour: p if alpha is NaN; r if the element is NaN; q if it
              ///< would be stored as p; otherwise unchanged
    rescale,  ///< alpha becomes alpha * p / r; colour is unchanged
    // Every element becomes p if alpha would be stored as `type` as 0 or less. Otherwise alpha is unchanged,
    // and colour is
    multiply,  ///< multiplied by alpha / r
    divide,    ///< divided by alpha / r
    clear,     ///< unchanged
  };
  Kind kind = Kind::hide;
  std::int64_t channel = 0;
  double p = 0, q = 0, r = 0;  ///< hide: p NaN: no such value; multiply, divide, rescale: r is full opacity
  PixelType type = PixelType::u8;  ///< type of the stored result

  friend bool operator==(const AlphaOp&, const AlphaOp&) = default;
};

/// `out` may be `in` (same data, type and pitch). Allocates a few KiB. Throws InvalidArgument.
void alpha_host(const AlphaOp& op, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic);
/// As mix_channels_device, but `out` must not be `in`.
void alpha_device(const AlphaOp& op, const ConstPixelView& in, const PixelView& out, Arithmetic arithmetic,
                  DeviceStream stream, std::span<const PointwiseOp> fused_ops = {});

/// Copies the alpha channel from `in` to `out`, except where it is NaN in `out`.
void keep_alpha_host(std::int64_t channel, const ConstPixelView& in, const PixelView& out,
                     Arithmetic arithmetic);
/// As alpha_device; `fused_ops` is applied to all of `out`.
void keep_alpha_device(std::int64_t channel, const ConstPixelView& in, const PixelView& out,
                       Arithmetic arithmetic, DeviceStream stream,
                       std::span<const PointwiseOp> fused_ops = {});

/// Which of `pixels`, in host memory, remain valid after a hide operation. With p NaN only alpha is tested;
/// NaN in other channels of floating-point pixels counts as missing, too.
MissingState find_missing_state(const ConstPixelView& pixels, const AlphaOp& hide);

}  // namespace sepconv
