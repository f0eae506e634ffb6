// What a directory carries besides its pixels: from libtiff's fields to Metadata and back.
#pragma once

#include <cstdint>

#include "io/metadata.hpp"
#include "io/tiff/tiff_handle.hpp"
#include "io/tiff/tiff_page.hpp"

namespace sepconv {

/// Channels, alpha aside, of pixels that are meant so.
int channels_meant(Photometric photometric) noexcept;

/// For the current directory, which is this page's. YCbCr counts as RGB, because that is what a reader
/// delivers.
Metadata read_metadata(const TiffHandle& handle, const TiffPage& page);

/// Sets the fields of a directory in the making, photometric and extra samples excepted: those belong to the
/// layout. Throws IoError.
void write_metadata(const TiffHandle& handle, const Metadata& metadata);

/// Bytes held by a directory with this metadata, at most, in libtiff and in the struct.
std::int64_t memory_bytes(const Metadata& metadata);

}  // namespace sepconv
