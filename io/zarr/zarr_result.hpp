// The metadata of arrays that are to be written. Private to io.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/raster_set.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_axes.hpp"

namespace sepconv {

/// The array for these images and options. Adds warnings about options that could not be used. Throws
/// InvalidArgument for options that Zarr does not support.
ZarrArray zarr_result_array(const RasterSetSpec& spec, const CreateOptions& options,
                            std::vector<std::string>& warnings);
/// Sets ZarrCodec::raster, the layout of pixels in a block, of the fast encoders.
void set_codec_raster(ZarrArray& array, const ZarrAxes& axes);
ZarrAxes zarr_result_axes(const ZarrArray& array, bool has_channels);
/// Sets the element order of chunks to that of the layout if the array supports it; else adds a warning.
void set_element_order(const ZarrLayout& layout, const ZarrAxes& axes, ZarrArray& array,
                       std::vector<std::string>& warnings);

/// Replaces codecs that the array's version does not support, with warnings. Version 2 has one codec and no
/// checksum. Version 3 has zlib and lz4 only inside other codecs.
void fit_to_version(ZarrArray& array, std::vector<std::string>& warnings);

/// The codecs of an array in the format of ZarrLayout::codecs.
std::string zarr_codecs_text(const ZarrArray& array);

/// Names and contents of the metadata files of an array or a group. `attributes`: a JSON object.
using MetadataFiles = std::vector<std::pair<std::string, std::string>>;
MetadataFiles zarr_array_files(const ZarrArray& array);
MetadataFiles zarr_group_files(int version, const std::string& attributes);

}  // namespace sepconv
