// How a new TIFF will be laid out, decided before its first byte.
#pragma once

#include <filesystem>
#include <vector>

#include "io/formats.hpp"
#include "io/tiff/tiff_directory.hpp"

namespace sepconv {

/// The most that the directory takes in the file, with all that belongs to it.
std::int64_t directory_bytes(const TiffDirectory& directory, const Metadata& metadata);

/// The directory of the image to be written, or of one of this many, every choice made, for pixels of this
/// spec. Throws InvalidArgument when a TIFF cannot hold them this way.
TiffDirectory plan_directory(const std::filesystem::path& path, const ImageSpec& spec,
                             const CreateOptions& options, std::int64_t pages = 1);

/// With levels inside of their images where the description is OME-XML, which wants them there, or counts the
/// file's images, of which levels behind would be more.
CreateOptions with_levels_placed(CreateOptions options, std::int64_t images);
/// Those of the smaller levels that the options ask for.
std::vector<TiffDirectory> plan_levels(const std::filesystem::path& path, const TiffDirectory& image,
                                       const CreateOptions& options);
/// The page of an image's mask.
TiffDirectory plan_mask(const TiffDirectory& image);
/// What such a page is made with: of the metadata what says how its values are meant.
CreateOptions level_options(const CreateOptions& options);

/// Sets the fields of a planned directory; of the metadata only what says how channels are meant.
void write_layout(const TiffHandle& handle, const TiffDirectory& directory, const Metadata& metadata);

}  // namespace sepconv
