// What reading and writing by libjpeg share: its errors and warnings, taken by a CodecGuard, and what it
// holds.
#pragma once

// jpeglib.h uses what it does not include.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <cstdint>

#include "io/codec_guard.hpp"

namespace sepconv {

/// The error functions for a handle whose client_data is a CodecGuard.
/// Warnings are errors, but for those that need not lose a pixel: libjpeg would continue with grey. Bytes that
/// belong nowhere are noted in the guard.
jpeg_error_mgr jpeg_errors() noexcept;

/// Bound of what libjpeg holds of an image of this many columns besides its pixels: tables and buffers, and rows
/// of all channels, as context for smooth colours, of the largest blocks.
std::int64_t libjpeg_bytes(std::int64_t cols, std::int64_t channels) noexcept;

}  // namespace sepconv
