// Plans the layout of a new TIFF.
#pragma once

#include <filesystem>
#include <vector>

#include "io/formats.hpp"
#include "io/tiff/tiff_directory.hpp"

namespace sepconv {

/// Upper bound of the directory's size in the file, with its values and tables.
std::int64_t directory_bytes(const TiffDirectory& directory, const Metadata& metadata);

/// Plans the directory of an image with pixels of this spec, or of each of `pages` images. Throws
/// InvalidArgument if a TIFF cannot store them with these options.
TiffDirectory plan_directory(const std::filesystem::path& path, const ImageSpec& spec,
                             const CreateOptions& options, std::int64_t pages = 1);

/// Moves levels into sub-directories of their images if the description is OME-XML, which requires that, or
/// counts the file's images, to which levels as pages would add.
CreateOptions with_level_position(CreateOptions options, std::int64_t images);
/// Plans the directories of the smaller levels that the options request.
std::vector<TiffDirectory> plan_levels(const std::filesystem::path& path, const TiffDirectory& image,
                                       const CreateOptions& options);
/// Plans the page of an image's mask.
TiffDirectory plan_mask(const TiffDirectory& image);
/// Options of a level's page: its metadata are only those that give the meaning of values.
CreateOptions level_options(const CreateOptions& options);

/// Sets the fields of a planned directory; of the metadata only those that give the meaning of channels.
void write_layout(const TiffHandle& handle, const TiffDirectory& directory, const Metadata& metadata);

}  // namespace sepconv
