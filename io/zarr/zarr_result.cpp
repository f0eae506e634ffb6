#include "io/zarr/zarr_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "io/deflate/deflater.hpp"
#include "io/zarr/zarr.hpp"
#include "io/zarr/zarr_codecs.hpp"
#include "io/zarr/zarr_json.hpp"
#include "io/zstd/raster_coder.hpp"

namespace sepconv {
namespace {

constexpr Extent kDefaultChunk{512, 512};
constexpr int kDefaultBlosc = 5;

std::vector<ZarrCodec> select_codecs(const FileLayout& layout, int version, std::int64_t element_bytes,
                                     std::vector<std::string>& warnings) {
  if (!layout.zarr.codecs.empty()) {
    const JsonFile file("ZarrLayout::codecs");
    std::vector<ZarrCodec> codecs;
    for (const Json& codec : Json::parse(layout.zarr.codecs, nullptr, false))
      codecs.push_back(parse_zarr_codec(file, file.named(codec, "codecs"), element_bytes));
    return codecs;
  }
  if (layout.level == deflate::kFast)
    warnings.push_back(fmt::format(
        "{0}:fast hardly shrinks smooth images in a Zarr, which has no predictor; {0} makes them smaller",
        name_of(layout.compression)));
  constexpr int kDefaultZstd = 1, kDefaultDeflate = 6, kMaxDeflate = 9, kMinDeflate = 1;
  const auto deflated = version == 2 ? ZarrCodec::Kind::zlib : ZarrCodec::Kind::gzip;
  switch (layout.compression) {
    case Compression::none:
      return {};
    case Compression::zstd:
      if (layout.level == zstd::kFast)
        return {{.kind = ZarrCodec::Kind::zstd, .level = kDefaultZstd, .raster = deflate::MatchDistances()}};
      return {{.kind = ZarrCodec::Kind::zstd, .level = layout.level > 0 ? layout.level : kDefaultZstd}};
    case Compression::deflate:
      if (layout.level == deflate::kFast)
        return {{.kind = deflated, .level = kMinDeflate, .raster = deflate::MatchDistances()}};
      if (layout.level > kMaxDeflate)
        warnings.push_back(
            fmt::format("chunks are encoded by level {} of deflate in place of {}: Zarr has none higher",
                        kMaxDeflate, layout.level));
      return {{.kind = deflated,
               .level = layout.level < 1 ? kDefaultDeflate : std::min(layout.level, kMaxDeflate)}};
    default:
      throw InvalidArgument(fmt::format("Zarr has no compression {}; choose zstd, deflate or none",
                                        name_of(layout.compression)));
  }
}

/// The number of positions of an object of the result along an axis of this size.
std::int64_t position_count(const std::vector<AxisPositions>& list, std::string_view axis, std::int64_t size,
                            std::int64_t default_count = 1) {
  const AxisPositions* const requested = find_positions(list, axis);
  if (requested == nullptr) return default_count;
  return requested->is_explicit ? requested->count : std::min(requested->count, size);
}

/// Warns or throws for requested axes that the result does not have. `others`: option names of the axes
/// besides y and x.
void check_axes(const FileLayout& layout, const std::vector<std::string>& others, const RasterAxes& axes,
                std::vector<std::string>& warnings) {
  for (const auto* const positions_list : {&layout.zarr.chunk_others, &layout.zarr.shard_others}) {
    const char* const object = positions_list == &layout.zarr.chunk_others ? "chunk" : "shard";
    for (const AxisPositions& positions : *positions_list) {
      if (!positions.is_explicit || std::ranges::find(others, positions.axis) != others.end()) continue;
      if (find_axis(axes, positions.axis) == nullptr)
        throw InvalidArgument(fmt::format(
            "the result has no axis {}, of which {}s are to hold {}; its axes are {}{}y, x", positions.axis,
            object, positions.count, fmt::join(others, ", "), others.empty() ? "" : ", "));
      warnings.push_back(
          fmt::format("a {} holds no {} positions of axis {}: one is selected, and the result does not have "
                      "this axis",
                      object, positions.count, positions.axis));
    }
  }
}

/// Throws InvalidArgument for chunks or shards that are too large to be read.
void check_size(const ZarrArray& array) {
  std::int64_t bytes = array.type.bytes_of(1);
  for (const std::int64_t side : array.chunk) {
    if (!__builtin_mul_overflow(bytes, side, &bytes) && bytes <= kMaxChunkBytes) continue;
    throw InvalidArgument(fmt::format("{} of {} have more than {} GiB; make them smaller",
                                      array.shards.empty() ? "chunks" : "shards",
                                      fmt::join(array.chunk, " x "), kMaxChunkBytes >> 30));
  }
  if (shard_parts(array.chunk, array.block()) > kMaxShardParts)
    throw InvalidArgument(
        fmt::format("shards of {} hold more than {} chunks of {}, and their index would be too large; make "
                    "chunks larger or shards smaller",
                    fmt::join(array.chunk, " x "), kMaxShardParts, fmt::join(array.block(), " x ")));
}

void set_shards(const FileLayout& layout, std::size_t others, const std::vector<std::string>& names,
                ZarrArray& array, std::vector<std::string>& warnings) {
  const Extent requested_shard = layout.zarr.shard;
  if (requested_shard.empty()) return;
  if (array.version == 2)
    throw InvalidArgument("Zarr 2 has no shards; leave OutputOptions::shard out, or write Zarr 3");
  const ZarrShape block = array.chunk;
  const Extent rounded{round_up(requested_shard.rows, block[others]),
                       round_up(requested_shard.cols, block[others + 1])};
  if (rounded != requested_shard)
    warnings.push_back(fmt::format("shards of {} x {} in place of {} x {}: they hold whole chunks",
                                   rounded.rows, rounded.cols, requested_shard.rows, requested_shard.cols));
  array.chunk[others] =
      round_up(std::min(requested_shard.rows, round_up(array.shape[others], block[others])), block[others]);
  array.chunk[others + 1] =
      round_up(std::min(requested_shard.cols, round_up(array.shape[others + 1], block[others + 1])),
               block[others + 1]);
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    if (i == others || i == others + 1) continue;
    const std::string& name = names[i < others ? i : i - 2];
    const std::int64_t default_count = i > others ? array.shape[i] : 1;  // all channels
    const std::int64_t requested_count =
        position_count(layout.zarr.shard_others, name, array.shape[i], default_count);
    array.chunk[i] = round_up(requested_count, block[i]);
    const AxisPositions* const requested = find_positions(layout.zarr.shard_others, name);
    if (requested != nullptr && requested->is_explicit && array.chunk[i] != requested_count)
      warnings.push_back(fmt::format("shards of {} {} in place of {}: they hold whole chunks", name,
                                     array.chunk[i], requested_count));
  }
  if (layout.zarr.nests_shards)
    warnings.emplace_back("shards hold chunks where the source's hold shards of chunks");
  array.shards = {{.inner = block, .order = array.order, .index_at_start = layout.zarr.index_at_start}};
}

/// Sets the fill value of the source, as far as the type and the version support it.
void set_fill_value(const FileLayout& layout, ZarrArray& array, std::vector<std::string>& warnings) {
  array.has_fill = array.version != 2 || layout.zarr.fill != "null";
  const ZarrElement source_fill = parse_zarr_fill(layout.zarr.fill, array.type, 3).value_or(ZarrElement{});
  array.fill =
      parse_zarr_fill(format_zarr_fill(source_fill, array.type, array.version), array.type, array.version)
          .value_or(source_fill);
  if (array.fill != source_fill)
    warnings.push_back(fmt::format(
        "the fill value is NaN in place of {}: Zarr 2 has no bits of a NaN; chunks of it are stored",
        layout.zarr.fill));
}

/// The array of the images without shape, chunks and codecs.
ZarrArray empty_array(const RasterSetSpec& spec, const CreateOptions& options) {
  const ZarrLayout& layout = options.layout.zarr;
  ZarrArray array;
  array.version = layout.version == 0 ? 3 : layout.version;
  if (array.version != 2 && array.version != 3)
    throw InvalidArgument(fmt::format("Zarr {} is not written; choose 2 or 3", array.version));
  array.type = options.stored.value_or(SampleType(spec.raster.type));
  array.big_endian = layout.big_endian;
  array.v2_chunk_keys = array.version == 2 || layout.v2_chunk_keys;
  if (layout.separator != 0) array.separator = layout.separator;
  if (!options.metadata.attributes.empty()) array.attributes = options.metadata.attributes;
  return array;
}

}  // namespace

void fit_to_version(ZarrArray& array, std::vector<std::string>& warnings) {
  if (array.version == 3) {
    for (ZarrCodec& codec : array.codecs) {
      const std::string old_name = name_of(codec);
      if (codec.kind == ZarrCodec::Kind::zlib)
        codec.kind = ZarrCodec::Kind::gzip;
      else if (codec.kind == ZarrCodec::Kind::lz4)
        codec = {.kind = ZarrCodec::Kind::blosc,
                 .level = kDefaultBlosc,
                 .blosc_codec = "lz4",
                 .blosc_type_size = array.type.bits / 8};
      else
        continue;
      warnings.push_back(
          fmt::format("chunks are encoded by {} in place of {}: Zarr 3 has none", name_of(codec), old_name));
    }
    return;
  }
  const auto checksums = std::erase_if(
      array.codecs, [](const ZarrCodec& codec) { return codec.kind == ZarrCodec::Kind::crc32c; });
  if (checksums > 0) warnings.emplace_back("chunks have no checksum (crc32c): Zarr 2 has none");
  // Decoders find the checksum in the frames and verify it.
  if (std::ranges::any_of(array.codecs, &ZarrCodec::checked))
    warnings.emplace_back(
        "chunks have the checksum of zstd, and the metadata do not say it: TensorStore opens no Zarr 2 that "
        "does");
  if (array.codecs.size() > 1) {
    array.codecs.resize(1);
    warnings.push_back(
        fmt::format("chunks are encoded by {} alone: Zarr 2 has one codec", name_of(array.codecs[0])));
  }
}

ZarrArray zarr_result_array(const RasterSetSpec& spec, const CreateOptions& options,
                            std::vector<std::string>& warnings) {
  const FileLayout& layout = options.layout;
  const ImageSpec& image = spec.raster;
  ZarrArray array = empty_array(spec, options);
  std::vector<std::string> option_names;  // names in options of the axes besides y and x
  for (const RasterAxis& axis : spec.axes) {
    if (axis.single) continue;
    array.shape.push_back(axis.size), array.names.push_back(axis.name), option_names.push_back(axis.name);
    array.chunk.push_back(position_count(layout.zarr.chunk_others, axis.name, axis.size));
  }
  const std::size_t others = array.shape.size();
  const Extent tile = layout.tiled ? layout.tile : kDefaultChunk;
  array.shape.insert(array.shape.end(), {image.extent.rows, image.extent.cols});
  array.chunk.insert(array.chunk.end(),
                     {std::min(tile.rows, image.extent.rows), std::min(tile.cols, image.extent.cols)});
  array.names.push_back(layout.zarr.rows_name.empty() ? "y" : layout.zarr.rows_name);
  array.names.push_back(layout.zarr.cols_name.empty() ? "x" : layout.zarr.cols_name);
  const std::int64_t channels = image.channels / array.type.parts();
  if (channels > 1 || layout.zarr.keeps_channel) {
    option_names.emplace_back(channel_axis(spec.axes));
    array.shape.push_back(channels);
    array.names.push_back(layout.zarr.channels_name.empty() ? option_names.back()
                                                            : layout.zarr.channels_name);
    array.chunk.push_back(position_count(layout.zarr.chunk_others, option_names.back(), channels,
                                         layout.planar ? 1 : channels));
  }
  check_axes(layout, option_names, spec.axes, warnings);
  array.order.resize(array.shape.size());
  std::iota(array.order.begin(), array.order.end(), 0);
  array.codecs = select_codecs(layout, array.version, array.type.bits / 8, warnings);
  fit_to_version(array, warnings);
  set_shards(layout, others, option_names, array, warnings);
  check_size(array);
  set_fill_value(layout, array, warnings);
  return array;
}

void set_default_zarr_layout(FileLayout& layout, SampleType type) {
  layout.compression = Compression::zstd;
  layout.level = 1;
  if (type.bits > 8)
    layout.zarr.codecs =
        R"([{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle"}}])";
}

void set_element_order(const ZarrLayout& layout, const ZarrAxes& axes, ZarrArray& array,
                       std::vector<std::string>& warnings) {
  if (layout.order.empty()) return;
  const auto order = zarr_order(layout.order, axes);
  if (!order) {
    warnings.emplace_back("elements of a chunk lie in C order: the source's order is of other axes");
  } else if (array.version == 2 && !std::ranges::is_sorted(*order) &&
             !std::ranges::is_sorted(*order, std::greater<>())) {
    warnings.emplace_back("elements of a chunk lie in C order: of others, Zarr 2 has only its reverse");
  } else {
    array.order = *order;
  }
}

void set_codec_raster(ZarrArray& array, const ZarrAxes& axes) {
  const auto block = [&](int axis) { return axis < 0 ? 1 : array.block()[static_cast<std::size_t>(axis)]; };
  const std::int64_t pixel = array.type.bytes_of(axes.channel > axes.col ? block(axes.channel) : 1);
  for (ZarrCodec& codec : array.codecs)
    if (codec.raster) codec.raster = deflate::MatchDistances{pixel, pixel * block(axes.col)};
}

ZarrAxes zarr_result_axes(const ZarrArray& array, bool has_channels) {
  ZarrAxes axes;
  const int others = static_cast<int>(array.shape.size()) - (has_channels ? 3 : 2);
  for (int i = 0; i < others; ++i) {
    axes.others.push_back(i);
    axes.rasters.push_back(
        {array.names[static_cast<std::size_t>(i)], array.shape[static_cast<std::size_t>(i)]});
  }
  axes.row = others, axes.col = others + 1, axes.channel = has_channels ? others + 2 : -1;
  return axes;
}

}  // namespace sepconv
