// libjpeg's errors and warnings, taken by a CodecGuard.
#pragma once

// jpeglib.h uses what it does not include.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include "sepconv/io/codec_guard.hpp"

namespace sepconv {

/// The error functions for a handle whose client_data is a CodecGuard.
/// Warnings are errors, but for those that lose no pixel: libjpeg would go on with grey.
jpeg_error_mgr jpeg_errors() noexcept;

}  // namespace sepconv
