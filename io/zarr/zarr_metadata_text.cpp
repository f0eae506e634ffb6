// Formats the metadata of arrays and groups.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "io/sample_conversion.hpp"
#include "io/zarr/zarr_codecs.hpp"
#include "io/zarr/zarr_json.hpp"
#include "io/zarr/zarr_result.hpp"

namespace sepconv {
namespace {

using Kind = ZarrCodec::Kind;

Json named(const char* name, Json configuration) {
  return {{"name", name}, {"configuration", std::move(configuration)}};
}

Json codec3(const ZarrCodec& codec) {
  switch (codec.kind) {
    case Kind::blosc:
      return named("blosc", {{"cname", codec.blosc_codec},
                             {"clevel", codec.level},
                             {"shuffle", kShuffleWords[codec.blosc_shuffle]},
                             {"typesize", codec.blosc_type_size},
                             {"blocksize", 0}});
    case Kind::zstd:
      return named("zstd", {{"level", codec.level}, {"checksum", codec.checked}});
    case Kind::gzip:
      return named("gzip", {{"level", codec.level}});
    case Kind::zlib:
      return named("numcodecs.zlib", {{"level", codec.level}});
    case Kind::lz4:
      return named("numcodecs.lz4", {{"acceleration", codec.level}});
    default:
      return {{"name", "crc32c"}};
  }
}

Json codec2(const ZarrCodec& codec) {
  switch (codec.kind) {
    case Kind::blosc:
      return {{"id", "blosc"},
              {"cname", codec.blosc_codec},
              {"clevel", codec.level},
              {"shuffle", codec.blosc_shuffle},
              {"blocksize", 0}};
    case Kind::lz4:
      return {{"id", "lz4"}, {"acceleration", codec.level}};
    default:
      return {{"id", name_of(codec)}, {"level", codec.level}};
  }
}

Json codecs3(const ZarrArray& array) {
  Json list = Json::array();
  for (const ZarrCodec& codec : array.codecs) list.push_back(codec3(codec));
  return list;
}

/// The codecs of a block, including bytes and transpose.
Json block_codecs3(const ZarrArray& array) {
  Json list = codecs3(array);
  Json bytes = {{"name", "bytes"}};
  if (array.type.bits_of_part() > 8)
    bytes["configuration"] = {{"endian", array.big_endian ? "big" : "little"}};
  list.insert(list.begin(), bytes);
  if (!std::ranges::is_sorted(array.order))
    list.insert(list.begin(), named("transpose", {{"order", array.order}}));
  return list;
}

Json shards3(const ZarrArray& array) {
  const Json index = {named("bytes", {{"endian", "little"}}), {{"name", "crc32c"}}};
  return Json::array({named("sharding_indexed",
                            {{"chunk_shape", array.block()},
                             {"codecs", block_codecs3(array)},
                             {"index_codecs", index},
                             {"index_location", array.shards.front().index_at_start ? "start" : "end"}})});
}

MetadataFiles array_files3(const ZarrArray& array) {
  Json metadata = {{"zarr_format", 3},
                   {"node_type", "array"},
                   {"shape", array.shape},
                   {"data_type", zarr_data_type(array.type)},
                   {"chunk_grid", named("regular", {{"chunk_shape", array.chunk}})},
                   {"chunk_key_encoding", named(array.v2_chunk_keys ? "v2" : "default",
                                                {{"separator", std::string(1, array.separator)}})},
                   {"fill_value", Json::parse(format_zarr_fill(array.fill, array.type, 3))},
                   {"codecs", array.shards.empty() ? block_codecs3(array) : shards3(array)},
                   {"attributes", Json::parse(array.attributes)}};
  if (!array.names.empty()) metadata["dimension_names"] = array.names;
  return {{"zarr.json", metadata.dump(2)}};
}

MetadataFiles array_files2(const ZarrArray& array) {
  static constexpr char kLetters[] = {'b', 'u', 'i', 'f', 'c'};
  const Json metadata = {
      {"zarr_format", 2},
      {"shape", array.shape},
      {"chunks", array.chunk},
      {"dtype", fmt::format("{}{}{}",
                            array.type.bits == 8 ? '|'
                            : array.big_endian   ? '>'
                                                 : '<',
                            kLetters[static_cast<int>(array.type.kind)], array.type.bits / 8)},
      {"compressor", array.codecs.empty() ? Json() : codec2(array.codecs.front())},
      {"filters", nullptr},
      {"order", std::ranges::is_sorted(array.order) ? "C" : "F"},
      {"fill_value", array.has_fill ? Json::parse(format_zarr_fill(array.fill, array.type, 2)) : Json()},
      {"dimension_separator", std::string(1, array.separator)}};
  Json attributes = Json::parse(array.attributes);
  if (!array.names.empty()) attributes[kArrayDimensions] = array.names;
  return {{".zarray", metadata.dump(2)}, {".zattrs", attributes.dump(2)}};
}

}  // namespace

MetadataFiles zarr_array_files(const ZarrArray& array) {
  return array.version == 2 ? array_files2(array) : array_files3(array);
}

MetadataFiles zarr_group_files(int version, const std::string& attributes) {
  if (version == 2)
    return {{".zgroup", R"({"zarr_format": 2})"}, {".zattrs", Json::parse(attributes).dump(2)}};
  return {
      {"zarr.json",
       Json{{"zarr_format", 3}, {"node_type", "group"}, {"attributes", Json::parse(attributes)}}.dump(2)}};
}

// A typesize equal to the element size is left out, so that a result uses the size of its own elements.
std::string zarr_codecs_text(const ZarrArray& array) {
  Json list = codecs3(array);
  for (Json& codec : list)
    if (codec["name"] == "blosc" && codec["configuration"]["typesize"] == array.type.bits / 8)
      codec["configuration"].erase("typesize");
  return list.dump();
}

}  // namespace sepconv
