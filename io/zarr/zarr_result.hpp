// Arrays that are to be written. Private to io.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "io/raster_set.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_axes.hpp"

namespace sepconv {

/// An array of these images, laid out as the options say, and its axes. Warnings are added of what had to be
/// otherwise. Throws InvalidArgument for what Zarr does not have.
ZarrArray zarr_result(const RasterSetSpec& spec, const CreateOptions& options,
                      std::vector<std::string>& warnings);
/// How the pixels of a block lie, for what is encoded without a search.
void set_raster(ZarrArray& array, const ZarrAxes& axes);
ZarrAxes zarr_result_axes(const ZarrArray& array, bool has_channels);
/// Elements of chunks in the order of the layout, where the array can have it.
void set_order(const ZarrLayout& layout, const ZarrAxes& axes, ZarrArray& array,
               std::vector<std::string>& warnings);

/// Codecs that the array's version has, in place of those that it has not: 2 has one codec, and no checksum;
/// 3 has neither zlib nor lz4 but inside of others.
void fit_to_version(ZarrArray& array, std::vector<std::string>& warnings);

/// The codecs of an array as FileLayout::zarr has them.
std::string zarr_codecs_text(const ZarrArray& array);

/// The metadata of an array, and of a group: names of files and what is in them. `attributes`: a JSON object.
using ZarrTexts = std::vector<std::pair<std::string, std::string>>;
ZarrTexts zarr_array_texts(const ZarrArray& array);
ZarrTexts zarr_group_texts(int version, const std::string& attributes);

}  // namespace sepconv
