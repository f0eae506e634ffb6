// Version 2: .zarray, and .zattrs next to it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "io/flat/npy.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_codecs.hpp"
#include "io/zarr/zarr_json.hpp"

namespace sepconv {
namespace {

void take_type(const JsonFile& file, const Json& dtype, ZarrArray& array) {
  if (!dtype.is_string()) file.lacking("elements of several parts");
  const auto elements = npy_elements(dtype.get<std::string>());
  if (!elements)
    file.lacking(fmt::format("elements of the dtype {}", dtype.get<std::string>().substr(0, 60)));
  array.type = elements->type;
  array.big_endian = elements->big_endian;
}

/// Others than xarray's may be anything.
std::vector<std::string> dimensions_in(const Json& attributes, std::size_t axes) {
  const auto found = attributes.find(kAxesOfVersion2);
  if (found == attributes.end() || !found->is_array() || found->size() != axes) return {};
  std::vector<std::string> names;
  for (const Json& name : *found) names.push_back(name.is_string() ? name.get<std::string>() : "");
  return names;
}

}  // namespace

ZarrArray parse_zarr2(const std::string& zarray, const std::string& attributes,
                      const std::filesystem::path& name) {
  const JsonFile file(name);
  const Json all = file.parse(zarray);
  if (file.integer(file.member(all, "zarr_format"), "zarr_format") != 2) file.damaged("zarr_format");
  ZarrArray array;
  array.version = 2;
  array.keys_of_v2 = true;
  array.shape = file.integers(all, "shape", 0);
  array.chunk = file.integers(all, "chunks", 1);
  take_type(file, file.member(all, "dtype"), array);
  const std::string separator = file.text(all, "dimension_separator", ".");
  if (separator != "." && separator != "/") file.damaged("dimension_separator");
  array.separator = separator.front();
  const std::string order = file.text(all, "order");
  if (order != "C" && order != "F") file.damaged("order");
  array.order.resize(array.shape.size());
  std::iota(array.order.begin(), array.order.end(), 0);
  if (order == "F") std::ranges::reverse(array.order);

  if (const Json& filters = all.value("filters", Json()); !filters.is_null() && !filters.empty()) {
    const Json& first = filters.is_array() ? filters.front() : filters;
    file.lacking(fmt::format("the filter {}", file.text(first, "id")));
  }
  if (const Json& compressor = file.member(all, "compressor"); !compressor.is_null())
    array.codecs.push_back(
        parse_zarr_codec(file, {file.text(compressor, "id"), compressor}, array.type.bits / 8));
  const Json& fill = file.member(all, "fill_value");
  array.has_fill = !fill.is_null();
  const auto element = array.has_fill ? zarr_fill(fill.dump(), array.type, 2) : ZarrElement{};
  if (!element) file.damaged("fill_value");
  array.fill = *element;

  const JsonFile attributes_file(name.parent_path() / ".zattrs");
  Json given = attributes_file.parse(attributes, {}, &array.as_texts);
  array.names = dimensions_in(given, array.shape.size());
  if (!array.names.empty() || array.shape.empty()) given.erase(kAxesOfVersion2);
  array.attributes = given.dump();
  return array;
}

}  // namespace sepconv
