// Shared by the libjpeg reader and writer: error handling through a CodecGuard, and a memory bound.
#pragma once

// jpeglib.h needs <cstdio> but does not include it.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <cstdint>

#include "io/codec_guard.hpp"

namespace sepconv {

/// Returns error functions for a libjpeg handle whose client_data is a CodecGuard.
/// Warnings are errors if they may lose pixels, since libjpeg would continue with grey. Extraneous bytes are
/// only noted in the guard.
jpeg_error_mgr jpeg_errors() noexcept;

/// Upper bound of libjpeg's memory in bytes for an image of `cols` columns, without its pixels: tables,
/// buffers, and rows of all channels with context for smooth upsampling, for the largest block size.
std::int64_t libjpeg_bytes(std::int64_t cols, std::int64_t channels) noexcept;

}  // namespace sepconv
