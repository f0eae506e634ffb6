// Copies of rows between a GPU and page-locked memory of the host, for where those of a copy engine are slow.
#pragma once

#include <cstdint>

#include "kernels/cuda/runtime.hpp"

namespace sepconv {

/// Does what copy_rows does between memory of the current device and page-locked memory of the host, either
/// way, in stream order, with a kernel of few blocks in place of a copy engine, which takes 0.1 us more for
/// every row that is followed by a gap. Rows, pitches and addresses that are not multiples of 16 bytes are
/// left to copy_rows, as is a device that does not know the host's addresses.
void copy_rows_by_kernel(void* to, std::int64_t to_pitch_bytes, const void* from,
                         std::int64_t from_pitch_bytes, std::int64_t row_bytes, std::int64_t rows,
                         DeviceStream stream);
/// The same of views of the same extent, channels and type.
inline void copy_pixels_by_kernel(const ConstPixelView& from, const PixelView& to, DeviceStream stream) {
  copy_rows_by_kernel(to.data, to.pitch_bytes, from.data, from.pitch_bytes, from.row_bytes(),
                      from.extent.rows, stream);
}

}  // namespace sepconv
