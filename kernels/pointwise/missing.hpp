// Which pixels are missing: those of one value, and those that are NaN.
#pragma once

#include "core/image.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sepconv {

enum class ValidMask : std::uint8_t { all_there, some_missing, all_missing };

/// What of `pixels`, in host memory, is missing: every element that equals `missing`, rounded to the pixels'
/// type, and every NaN. A `missing` that an integer type cannot hold, as NaN, is none of its elements. Of no
/// pixels all are there.
ValidMask presence_of(const ConstPixelView& pixels, double missing);

/// Sets `found`, which is page-locked memory of the host, where `in`, of f32 or f64 in device memory, holds
/// NaN, and else leaves it. The host sees it once that is through. Enqueues on `stream` and returns. Throws
/// InvalidArgument for integers, and CudaError.
void find_nan_cuda(const ConstPixelView& in, std::int32_t* found, DeviceStream stream);

/// Makes every element `value`, which the type can hold, or NaN of a floating one.
void fill_pixels(const PixelView& pixels, double value);

}  // namespace sepconv
