// The value of missing pixels, as CF and xarray say it of an array: the attribute `_FillValue`, else
// `missing_value`; of floating elements a number of 8 bytes in base64, as xarray has it in JSON, which has no
// NaN. In version 2 xarray and GDAL say it by the fill value. Private to this folder.
// https://cfconventions.org, "Missing data"
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/file_layout.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {

/// Takes it out of the attributes of an array. What is there and is not heeded stays, and is added to `said`.
/// A fill value is one of an array of version 2 that names its axes, as they do, and 0 is none: others write
/// it where nothing is missing. `is_level`: of an image, whose axes are not the array's.
std::optional<double> take_nodata(ZarrArray& array, bool is_level, std::vector<std::string>& said);

/// Says it of a result, of which no element is complex. `fills`: elements that are not stored are it, too, as
/// they are in version 2 in any case.
void put_nodata(double nodata, bool fills, ZarrArray& array);

/// For an array in which nothing is missing. xarray and GDAL take any fill value of version 2 for that of
/// missing pixels, 0 too, so that there is none; but NaN, which is what it is to them, and what a source of
/// version 2 says and take_nodata() does not take stay.
void take_fill_away(const ZarrLayout& from, ZarrArray& array, std::vector<std::string>& said);

}  // namespace sepconv
