#include "io/zarr/zarr_array.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>

#include "core/geometry.hpp"
#include "io/file_errors.hpp"
#include "io/zarr/zarr_json.hpp"

namespace sepconv {

std::int64_t shard_parts(const ZarrShape& outer, const ZarrShape& inner) noexcept {
  std::int64_t parts = 1;
  for (std::size_t i = 0; i < outer.size(); ++i) {
    if (__builtin_mul_overflow(parts, outer[i] / inner[i], &parts)) return kMaxShardParts + 1;
  }
  return parts;
}

std::int64_t ZarrArray::block_bytes() const noexcept {
  return std::accumulate(block().begin(), block().end(), type.bytes_of(1), std::multiplies<>());
}

ZarrShape ZarrArray::block_steps() const {
  ZarrShape steps(shape.size());
  std::int64_t step = 1;
  for (std::size_t i = steps.size(); i-- > 0;) {
    const auto axis = static_cast<std::size_t>(order[i]);
    steps[axis] = step;
    step *= block()[axis];
  }
  return steps;
}

std::string ZarrArray::chunk_key(const ZarrShape& position) const {
  if (v2_chunk_keys) return position.empty() ? "0" : fmt::format("{}", fmt::join(position, {&separator, 1}));
  std::string key = "c";
  for (const std::int64_t index : position) key += fmt::format("{}{}", separator, index);
  return key;
}

bool ZarrArray::has_key(std::string_view key) const {
  if (shape.empty()) return key == chunk_key({});
  ZarrShape position;
  for (const char *at = key.data(), *const end = at + key.size(); at != end;) {
    std::uint32_t index = 0;  // unsigned, so that a minus sign is not parsed
    const auto [after, error] = std::from_chars(at, end, index);
    if (error == std::errc()) position.push_back(index);
    at = error == std::errc() ? after : at + 1;
  }
  if (position.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (position[i] >= ceil_div(shape[i], chunk[i])) return false;
  return chunk_key(position) == key;
}

std::string name_of(const ZarrCodec& codec) {
  switch (codec.kind) {
    case ZarrCodec::Kind::blosc:
      return fmt::format("blosc ({}{})", codec.blosc_codec,
                         codec.blosc_shuffle == 0   ? ""
                         : codec.blosc_shuffle == 1 ? ", shuffled"
                                                    : ", bits shuffled");
    case ZarrCodec::Kind::zstd:
      return "zstd";
    case ZarrCodec::Kind::gzip:
      return "gzip";
    case ZarrCodec::Kind::zlib:
      return "zlib";
    case ZarrCodec::Kind::lz4:
      return "lz4";
    default:
      return "crc32c";
  }
}

namespace {

/// Throws unless the shapes of chunks and shards are consistent, so that later arithmetic cannot overflow or
/// divide by 0.
void check_shapes(const ZarrArray& array, const std::filesystem::path& name) {
  const auto damaged = [&] {
    throw_read_error(name, "the shapes of the array and of its chunks do not fit; copy it again");
  };
  if (array.chunk.size() != array.shape.size()) damaged();
  std::int64_t bytes = array.type.bytes_of(1);
  for (const std::int64_t side : array.chunk) {
    if (side < 1 || __builtin_mul_overflow(bytes, side, &bytes) || bytes > kMaxChunkBytes) damaged();
  }
  const ZarrShape* outer = &array.chunk;
  for (const ZarrShards& level : array.shards) {
    if (level.inner.size() != outer->size()) damaged();
    for (std::size_t i = 0; i < outer->size(); ++i) {
      if (level.inner[i] < 1 || (*outer)[i] % level.inner[i] != 0) damaged();
    }
    outer = &level.inner;
  }
}

}  // namespace

std::optional<ZarrNode> read_zarr_node(const ZarrStore& store, const std::string& key) {
  const auto text_of = [&](const char* name) { return store.text(joined_key(key, name), kMaxZarrJson); };
  ZarrNode node;
  std::filesystem::path name = store.name_of(key);
  if (const auto text = text_of("zarr.json")) {
    name /= "zarr.json";
    node = parse_zarr3(*text, name);
  } else if (const auto array = text_of(".zarray")) {
    name /= ".zarray";
    node.array = parse_zarr2(*array, text_of(".zattrs").value_or("{}"), name);
  } else if (text_of(".zgroup")) {
    node.is_consolidated = store.open(joined_key(key, ".zmetadata")) != nullptr;
    node.attributes =
        JsonFile(name / ".zattrs").parse(text_of(".zattrs").value_or("{}"), {}, &node.quoted_numbers).dump();
  } else {
    return std::nullopt;
  }
  if (node.array) check_shapes(*node.array, name);
  if (node.array) node.version = node.array->version;
  if (!node.array && std::filesystem::path(name).filename() != "zarr.json") node.version = 2;
  return node;
}

}  // namespace sepconv
