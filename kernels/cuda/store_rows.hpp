// Rows from a GPU's memory into page-locked memory of the host, for where copies of rows are slow.
#pragma once

#include <cstdint>

#include "sepconv/kernels/cuda/runtime.hpp"

namespace sepconv {

/// Does what copy_rows does from memory of the current device into page-locked memory of the host, in stream order, with a kernel of few
/// blocks in place of a copy engine, which takes 0.1 us more for every row that is followed by a gap. Rows, pitches and addresses that
/// are no multiples of 16 bytes are left to copy_rows, as is a device that does not know the host's addresses.
void store_rows(void* to, std::int64_t to_pitch_bytes, const void* from, std::int64_t from_pitch_bytes, std::int64_t row_bytes,
                std::int64_t rows, DeviceStream stream);

}  // namespace sepconv
