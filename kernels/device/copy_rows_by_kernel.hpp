// Row copies between a GPU and page-locked host memory by a kernel, for cases in which copy engines are slow.
#pragma once

#include <cstdint>

#include "kernels/device/runtime.hpp"

namespace sepconv {

/// Does the same as copy_rows between memory of the current device and page-locked host memory, in either
/// direction, in stream order, with a kernel of few blocks. A copy engine takes 0.1 us more for every row
/// that is followed by a gap. Falls back to copy_rows if rows, pitches or addresses are not multiples of 16
/// bytes, or if the device cannot use host pointers.
void copy_rows_by_kernel(void* to, std::int64_t to_pitch_bytes, const void* from,
                         std::int64_t from_pitch_bytes, std::int64_t row_bytes, std::int64_t rows,
                         DeviceStream stream);
/// The same for views of the same extent, channels and type.
inline void copy_pixels_by_kernel(const ConstPixelView& from, const PixelView& to, DeviceStream stream) {
  copy_rows_by_kernel(to.data, to.pitch_bytes, from.data, from.pitch_bytes, from.row_bytes(),
                      from.extent.rows, stream);
}

}  // namespace sepconv
