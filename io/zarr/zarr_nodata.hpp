// The value of missing pixels (nodata), by the conventions of CF and xarray: the attribute `_FillValue`, else
// `missing_value`. For floating-point elements xarray writes 8 bytes in base64, because JSON has no NaN. In
// version 2 xarray and GDAL use the fill value. Private to this folder.
// https://cfconventions.org, "Missing data"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/file_layout.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {

/// Removes nodata from the attributes of an array and returns it. Ignored attributes stay and cause a
/// warning. The fill value is used for an array of version 2 with axis names, which xarray and GDAL write,
/// unless it is 0, which other writers use if nothing is missing. `is_level`: the array is a level of an
/// OME-Zarr image.
std::optional<double> extract_nodata(ZarrArray& array, bool is_level, std::vector<std::string>& warnings);

/// Sets nodata of a result with elements that are not complex. `fills`: it becomes the fill value, too, as it
/// always does in version 2.
void set_array_nodata(double nodata, bool fills, ZarrArray& array);

/// Removes the fill value of an array of version 2 without nodata, because xarray and GDAL use any fill value
/// as nodata, even 0. Keeps NaN, and the fill value of a source of version 2 that extract_nodata() does not
/// use.
void remove_fill_value(const ZarrLayout& from, ZarrArray& array, std::vector<std::string>& warnings);

}  // namespace sepconv
