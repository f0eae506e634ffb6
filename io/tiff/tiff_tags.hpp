// Converts the metadata of a directory: from libtiff's fields to Metadata and back.
#pragma once

#include <cstdint>

#include "io/metadata.hpp"
#include "io/tiff/tiff_handle.hpp"
#include "io/tiff/tiff_page.hpp"

namespace sepconv {

/// Number of channels, without alpha, of a photometric interpretation.
int colour_channels(Photometric photometric) noexcept;

/// Reads the metadata of the current directory, which is this page's. YCbCr is reported as RGB, which a
/// reader delivers.
Metadata read_metadata(const TiffHandle& handle, const TiffPage& page);

/// Sets the fields of a new directory, except photometric and extra samples, which belong to the layout.
/// Throws IoError.
void write_metadata(const TiffHandle& handle, const Metadata& metadata);

/// Upper bound of the memory of this metadata, in libtiff and in the struct.
std::int64_t memory_bytes(const Metadata& metadata);

}  // namespace sepconv
