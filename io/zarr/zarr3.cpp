// Version 3: zarr.json.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "io/file_errors.hpp"
#include "io/zarr/zarr_array.hpp"
#include "io/zarr/zarr_codecs.hpp"
#include "io/zarr/zarr_json.hpp"

namespace sepconv {
namespace {

struct DataType {
  const char* name;
  SampleType type;
};
constexpr DataType kDataTypes[] = {
    {"bool", {SampleType::Kind::boolean, 8}},       {"uint8", {SampleType::Kind::natural, 8}},
    {"uint16", {SampleType::Kind::natural, 16}},    {"uint32", {SampleType::Kind::natural, 32}},
    {"uint64", {SampleType::Kind::natural, 64}},    {"int8", {SampleType::Kind::integer, 8}},
    {"int16", {SampleType::Kind::integer, 16}},     {"int32", {SampleType::Kind::integer, 32}},
    {"int64", {SampleType::Kind::integer, 64}},     {"float16", {SampleType::Kind::floating, 16}},
    {"float32", {SampleType::Kind::floating, 32}},  {"float64", {SampleType::Kind::floating, 64}},
    {"complex64", {SampleType::Kind::complex, 64}}, {"complex128", {SampleType::Kind::complex, 128}}};

/// The axes `order` after a transpose codec.
std::vector<int> apply_transpose(const JsonFile& file, const std::vector<int>& order,
                                 const Json& configuration) {
  if (const Json order_json = configuration.value("order", Json());
      order_json == "C" || order_json == "F") {  // older drafts
    std::vector<int> result = order;
    if (order_json == "F") std::ranges::reverse(result);
    return result;
  }
  std::vector<std::int64_t> permutation = file.integers(configuration, "order", 0);
  std::vector<int> result;
  for (const std::int64_t axis : permutation)
    if (axis < std::ssize(order)) result.push_back(order[static_cast<std::size_t>(axis)]);
  std::ranges::sort(permutation);
  if (result.size() != order.size() || std::ranges::adjacent_find(permutation) != permutation.end())
    file.throw_damaged("order of a transpose");
  return result;
}

bool is_big_endian(const JsonFile& file, const Json& configuration, bool is_required) {
  const std::string endian = file.text(configuration, "endian", is_required ? "" : "little");
  if (endian != "little" && endian != "big") file.throw_damaged("endian");
  return endian == "big";
}

/// Older drafts call the codec "endian".
bool is_bytes(std::string_view codec) { return codec == "bytes" || codec == "endian"; }

/// Parses the codecs of a shard's index: bytes, and optionally crc32c.
void parse_index_codecs(const JsonFile& file, const Json& configuration, ZarrShards& shards) {
  const Json& list = file.member(configuration, "index_codecs");
  if (!list.is_array() || list.empty()) file.throw_damaged("index_codecs");
  shards.index_checked = list.size() > 1;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const auto [name, settings] = file.named(list[i], "index_codecs");
    if (i > 1 || !(i == 0 ? is_bytes(name) : name == "crc32c"))
      file.throw_unsupported(fmt::format("the codec {} of a shard's index", name.substr(0, 60)));
    if (i == 0) shards.index_big_endian = is_big_endian(file, settings, true);
  }
}

[[noreturn]] void throw_missing_bytes_codec(const JsonFile& file) {
  throw_read_error(file.name(),
                   "it has no codec bytes, which every array of Zarr 3 has and GDAL leaves out; make it with "
                   "FORMAT=ZARR_V2");
}

void parse_codecs(const JsonFile& file, const Json& list, std::vector<int> order, ZarrArray& array);

void parse_shards(const JsonFile& file, const Json& configuration, const std::vector<int>& order,
                  ZarrArray& array) {
  constexpr std::ptrdiff_t kMaxDepth = 4;
  if (std::ssize(array.shards) == kMaxDepth) file.throw_unsupported("shards in shards in shards in shards");
  ZarrShards shards{.inner = ZarrShape(order.size()), .order = order};
  const std::vector<std::int64_t> shape = file.integers(configuration, "chunk_shape", 1);
  if (shape.size() != order.size()) file.throw_damaged("chunk_shape");
  for (std::size_t i = 0; i < shape.size(); ++i) shards.inner[static_cast<std::size_t>(order[i])] = shape[i];
  const std::string location = file.text(configuration, "index_location", "end");
  if (location != "start" && location != "end") file.throw_damaged("index_location");
  shards.index_at_start = location == "start";
  parse_index_codecs(file, configuration, shards);
  array.shards.push_back(std::move(shards));
  parse_codecs(file, file.member(configuration, "codecs"), order, array);
}

void parse_codecs(const JsonFile& file, const Json& list, std::vector<int> order, ZarrArray& array) {
  if (!list.is_array()) file.throw_damaged("codecs");
  bool has_bytes = false, has_shards = false;
  for (const Json& value : list) {
    const auto [name, settings] = file.named(value, "codecs");
    if (has_shards) file.throw_unsupported(fmt::format("the codec {} for whole shards", name.substr(0, 60)));
    if (!has_bytes && name == "transpose") {
      order = apply_transpose(file, order, settings);
    } else if (!has_bytes && is_bytes(name)) {
      has_bytes = true;
      array.order = order;
      array.big_endian = is_big_endian(file, settings, array.type.bits > 8);
    } else if (!has_bytes && name == "sharding_indexed") {
      has_bytes = has_shards = true;
      parse_shards(file, settings, order, array);
    } else if (has_bytes) {
      array.codecs.push_back(parse_zarr_codec(file, {name, settings}, array.type.bits / 8));
    } else {
      parse_zarr_codec(file, {name, settings}, array.type.bits / 8);
      throw_missing_bytes_codec(file);
    }
  }
  if (!has_bytes) throw_missing_bytes_codec(file);
}

void parse_chunk_keys(const JsonFile& file, const Json& metadata, ZarrArray& array) {
  const auto [name, settings] = file.named(file.member(metadata, "chunk_key_encoding"), "chunk_key_encoding");
  if (name != "default" && name != "v2")
    file.throw_unsupported(fmt::format("chunk keys {}", name.substr(0, 60)));
  array.v2_chunk_keys = name == "v2";
  const std::string separator = file.text(settings, "separator", array.v2_chunk_keys ? "." : "/");
  if (separator != "." && separator != "/") file.throw_damaged("separator");
  array.separator = separator.front();
}

void parse_axis_names(const JsonFile& file, const Json& metadata, ZarrArray& array) {
  if (!metadata.contains("dimension_names") || metadata["dimension_names"].is_null()) return;
  const Json& names = metadata["dimension_names"];
  if (!names.is_array() || names.size() != array.shape.size()) file.throw_damaged("dimension_names");
  for (const Json& name : names) {
    if (!name.is_string() && !name.is_null()) file.throw_damaged("dimension_names");
    array.names.push_back(name.is_null() ? "" : name.get<std::string>());
  }
}

void parse_grid(const JsonFile& file, const Json& metadata, ZarrArray& array) {
  array.shape = file.integers(metadata, "shape", 0);
  const auto [grid, settings] = file.named(file.member(metadata, "chunk_grid"), "chunk_grid");
  if (grid != "regular") file.throw_unsupported(fmt::format("a chunk grid {}", grid.substr(0, 60)));
  array.chunk = file.integers(settings, "chunk_shape", 1);
}

ZarrArray parse_array(const JsonFile& file, const Json& metadata) {
  file.check_members(metadata,
                     {"zarr_format", "node_type", "shape", "data_type", "chunk_grid", "chunk_key_encoding",
                      "fill_value", "codecs", "attributes", "storage_transformers", "dimension_names"});
  ZarrArray array;
  parse_grid(file, metadata, array);
  const std::string data_type = file.named(file.member(metadata, "data_type"), "data_type").name;
  const auto* const known = std::ranges::find(kDataTypes, data_type, &DataType::name);
  if (known == std::end(kDataTypes))
    file.throw_unsupported(fmt::format("elements of the data_type {}", data_type.substr(0, 60)));
  array.type = known->type;
  parse_chunk_keys(file, metadata, array);
  parse_axis_names(file, metadata, array);
  if (metadata.contains("storage_transformers") && !metadata["storage_transformers"].empty())
    file.throw_unsupported("storage_transformers");
  if (!metadata.contains("codecs")) throw_missing_bytes_codec(file);
  std::vector<int> order(array.shape.size());
  std::iota(order.begin(), order.end(), 0);
  parse_codecs(file, file.member(metadata, "codecs"), std::move(order), array);
  const auto element = parse_zarr_fill(file.member(metadata, "fill_value").dump(), array.type, 3);
  if (!element) file.throw_damaged("fill_value");
  array.fill = *element;
  return array;
}

}  // namespace

ZarrNode parse_zarr3(const std::string& text, const std::filesystem::path& name) {
  const JsonFile file(name);
  // consolidated_metadata is skipped: it repeats the metadata of all nodes below and may be large.
  std::string quoted_numbers;
  ZarrNode node;
  const Json metadata = file.parse(text, "consolidated_metadata", &quoted_numbers, &node.is_consolidated);
  if (file.integer(file.member(metadata, "zarr_format"), "zarr_format") != 3)
    file.throw_damaged("zarr_format");
  const std::string type = file.text(metadata, "node_type");
  if (type != "array" && type != "group") file.throw_damaged("node_type");
  const Json attributes = metadata.value("attributes", Json::object());
  if (!attributes.is_object()) file.throw_damaged("attributes");
  node.attributes = attributes.dump();
  node.quoted_numbers = quoted_numbers;
  if (type == "group") return node;
  node.array = parse_array(file, metadata);
  node.array->attributes = node.attributes;
  node.array->quoted_numbers = std::move(quoted_numbers);
  return node;
}

const char* zarr_data_type(SampleType type) noexcept {
  return std::ranges::find(kDataTypes, type, &DataType::type)->name;
}

}  // namespace sepconv
