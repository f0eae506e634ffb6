// How a new TIFF will be laid out, decided before its first byte.
#pragma once

#include <filesystem>

#include "sepconv/io/formats.hpp"
#include "sepconv/io/tiff/tiff_directory.hpp"

namespace sepconv {

/// The directory of the image to be written, every choice made. Throws InvalidArgument when a TIFF cannot
/// hold the image this way.
TiffDirectory plan_directory(const std::filesystem::path& path, const ImageSpec& spec,
                             const CreateOptions& options);

/// Sets the fields of a planned directory; of the metadata only what says how channels are meant.
void write_layout(const TiffHandle& handle, const TiffDirectory& directory, const Metadata& metadata);

}  // namespace sepconv
