// Missing pixels: those with a given value, and NaN.
#pragma once

#include "core/image.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv {

enum class MissingState : std::uint8_t { none_missing, some_missing, all_missing };

/// Which of `pixels`, in host memory, are missing: every element that equals `missing`, rounded to the
/// pixels' type, and every NaN. A `missing` that an integer type cannot represent (NaN, for example) equals
/// none of its elements. Without pixels the result is none_missing.
MissingState find_missing_state(const ConstPixelView& pixels, double missing);

/// Sets `found`, in page-locked host memory, to 1 if `in` (f32 or f64 in device memory) contains NaN;
/// otherwise leaves it unchanged. The host may read it after the stream has executed the work. Enqueues on
/// `stream` and returns. Throws InvalidArgument for integers, and DeviceError.
void find_nan_device(const ConstPixelView& in, std::int32_t* found, DeviceStream stream);

/// Sets every element to `value`, which the type must be able to represent; NaN is allowed for floating-point
/// types.
void fill_pixels(const PixelView& pixels, double value);

}  // namespace sepconv
