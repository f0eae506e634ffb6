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

void parse_type(const JsonFile& file, const Json& dtype, ZarrArray& array) {
  if (!dtype.is_string()) file.throw_unsupported("elements of several parts");
  const auto elements = npy_elements(dtype.get<std::string>());
  if (!elements)
    file.throw_unsupported(fmt::format("elements of the dtype {}", dtype.get<std::string>().substr(0, 60)));
  array.type = elements->type;
  array.big_endian = elements->big_endian;
}

/// The axis names in xarray's attribute; empty if its value is not a list of this many names.
std::vector<std::string> parse_axis_names(const Json& attributes, std::size_t axes) {
  const auto found = attributes.find(kArrayDimensions);
  if (found == attributes.end() || !found->is_array() || found->size() != axes) return {};
  std::vector<std::string> names;
  for (const Json& name : *found) names.push_back(name.is_string() ? name.get<std::string>() : "");
  return names;
}

}  // namespace

ZarrArray parse_zarr2(const std::string& zarray, const std::string& attributes,
                      const std::filesystem::path& name) {
  const JsonFile file(name);
  const Json metadata = file.parse(zarray);
  if (file.integer(file.member(metadata, "zarr_format"), "zarr_format") != 2)
    file.throw_damaged("zarr_format");
  ZarrArray array;
  array.version = 2;
  array.v2_chunk_keys = true;
  array.shape = file.integers(metadata, "shape", 0);
  array.chunk = file.integers(metadata, "chunks", 1);
  parse_type(file, file.member(metadata, "dtype"), array);
  const std::string separator = file.text(metadata, "dimension_separator", ".");
  if (separator != "." && separator != "/") file.throw_damaged("dimension_separator");
  array.separator = separator.front();
  const std::string order = file.text(metadata, "order");
  if (order != "C" && order != "F") file.throw_damaged("order");
  array.order.resize(array.shape.size());
  std::iota(array.order.begin(), array.order.end(), 0);
  if (order == "F") std::ranges::reverse(array.order);

  if (const Json& filters = metadata.value("filters", Json()); !filters.is_null() && !filters.empty()) {
    const Json& first = filters.is_array() ? filters.front() : filters;
    file.throw_unsupported(fmt::format("the filter {}", file.text(first, "id")));
  }
  if (const Json& compressor = file.member(metadata, "compressor"); !compressor.is_null())
    array.codecs.push_back(
        parse_zarr_codec(file, {file.text(compressor, "id"), compressor}, array.type.bits / 8));
  const Json& fill = file.member(metadata, "fill_value");
  array.has_fill = !fill.is_null();
  const auto element = array.has_fill ? parse_zarr_fill(fill.dump(), array.type, 2) : ZarrElement{};
  if (!element) file.throw_damaged("fill_value");
  array.fill = *element;

  const JsonFile attributes_file(name.parent_path() / ".zattrs");
  Json attributes_json = attributes_file.parse(attributes, {}, &array.quoted_numbers);
  array.names = parse_axis_names(attributes_json, array.shape.size());
  if (!array.names.empty() || array.shape.empty()) attributes_json.erase(kArrayDimensions);
  array.attributes = attributes_json.dump();
  return array;
}

}  // namespace sepconv
