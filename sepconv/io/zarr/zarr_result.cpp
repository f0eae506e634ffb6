#include "sepconv/io/zarr/zarr_result.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "sepconv/core/error.hpp"
#include "sepconv/io/deflate/deflater.hpp"
#include "sepconv/io/zarr/zarr.hpp"
#include "sepconv/io/zarr/zarr_codecs.hpp"
#include "sepconv/io/zarr/zarr_json.hpp"
#include "sepconv/io/zstd/raster_coder.hpp"

namespace sepconv {
namespace {

constexpr Extent kUsualChunk{512, 512};

std::vector<ZarrCodec> codecs_of(const FileLayout& layout, int version, std::int64_t element_bytes) {
  if (!layout.zarr.codecs.empty()) {
    const JsonFile file("ZarrLayout::codecs");
    std::vector<ZarrCodec> codecs;
    for (const Json& codec : Json::parse(layout.zarr.codecs, nullptr, false))
      codecs.push_back(parse_zarr_codec(file, file.named(codec, "codecs"), element_bytes));
    return codecs;
  }
  constexpr int kUsualZstd = 1, kUsualDeflate = 6, kHighestDeflate = 9, kLowestDeflate = 1;
  const auto deflated = version == 2 ? ZarrCodec::Kind::zlib : ZarrCodec::Kind::gzip;
  switch (layout.compression) {
    case Compression::none:
      return {};
    case Compression::zstd:
      if (layout.level == zstd::kFast)
        return {{.kind = ZarrCodec::Kind::zstd, .level = kUsualZstd, .raster = deflate::Raster()}};
      return {{.kind = ZarrCodec::Kind::zstd, .level = layout.level > 0 ? layout.level : kUsualZstd}};
    case Compression::deflate:
      if (layout.level == deflate::kFast)
        return {{.kind = deflated, .level = kLowestDeflate, .raster = deflate::Raster()}};
      return {{.kind = deflated,
               .level = layout.level < 1 ? kUsualDeflate : std::min(layout.level, kHighestDeflate)}};
    default:
      throw InvalidArgument(fmt::format("Zarr has no compression {}; choose zstd, deflate or none",
                                        name_of(layout.compression)));
  }
}

/// Version 2 has one codec, and no checksum.
void fit_to_version(ZarrArray& array, std::vector<std::string>& warnings) {
  if (array.version != 2) return;
  const auto checksums = std::erase_if(
      array.codecs, [](const ZarrCodec& codec) { return codec.kind == ZarrCodec::Kind::crc32c; });
  if (checksums > 0) warnings.emplace_back("chunks have no checksum (crc32c): Zarr 2 has none");
  if (array.codecs.size() > 1) {
    array.codecs.resize(1);
    warnings.push_back(
        fmt::format("chunks are encoded by {} alone: Zarr 2 has one codec", name_of(array.codecs[0])));
  }
}

/// How many positions an object of the result holds along an axis of so many.
std::int64_t positions_of(const std::vector<AxisPositions>& of, std::string_view axis, std::int64_t size,
                          std::int64_t usual = 1) {
  const AxisPositions* const said = find_positions(of, axis);
  if (said == nullptr) return usual;
  return said->asked_for ? said->count : std::min(said->count, size);
}

/// Axes that are asked for and are not there.
void check_axes(const FileLayout& layout, const RasterAxes& axes, const ZarrArray& array) {
  for (const auto* const of : {&layout.zarr.chunk_others, &layout.zarr.shard_others}) {
    for (const AxisPositions& positions : *of) {
      if (!positions.asked_for || find_axis(axes, positions.axis) != nullptr ||
          std::ranges::find(array.names, positions.axis) != array.names.end())
        continue;
      throw InvalidArgument(
          fmt::format("the result has no axis {}, of which chunks are to hold {}; its axes "
                      "are {}",
                      positions.axis, positions.count, fmt::join(array.names, ", ")));
    }
  }
}

/// Of what would be read by nobody.
void check_size(const ZarrArray& array) {
  std::int64_t bytes = array.type.bytes_of(1);
  for (const std::int64_t side : array.chunk) {
    if (!__builtin_mul_overflow(bytes, side, &bytes) && bytes <= kMostChunkBytes) continue;
    throw InvalidArgument(fmt::format("{} of {} have more than {} GiB; make them smaller",
                                      array.shards.empty() ? "chunks" : "shards",
                                      fmt::join(array.chunk, " x "), kMostChunkBytes >> 30));
  }
}

void take_shards(const FileLayout& layout, std::size_t others, ZarrArray& array,
                 std::vector<std::string>& warnings) {
  const Extent asked = layout.zarr.shard;
  if (asked.empty()) return;
  if (array.version == 2)
    throw InvalidArgument("Zarr 2 has no shards; leave OutputRequest::shard out, or write Zarr 3");
  const ZarrShape block = array.chunk;
  const Extent whole{round_up(asked.rows, block[others]), round_up(asked.cols, block[others + 1])};
  if (whole != asked)
    warnings.push_back(fmt::format("shards of {} x {} in place of {} x {}: they hold whole chunks",
                                   whole.rows, whole.cols, asked.rows, asked.cols));
  array.chunk[others] =
      round_up(std::min(asked.rows, round_up(array.shape[others], block[others])), block[others]);
  array.chunk[others + 1] =
      round_up(std::min(asked.cols, round_up(array.shape[others + 1], block[others + 1])), block[others + 1]);
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    if (i == others || i == others + 1) continue;
    const std::int64_t usual = i > others ? array.shape[i] : 1;  // all channels
    array.chunk[i] =
        round_up(positions_of(layout.zarr.shard_others, array.names[i], array.shape[i], usual), block[i]);
  }
  if (layout.zarr.nests_shards)
    warnings.emplace_back("shards hold chunks where the source's hold shards of chunks");
  array.shards = {{.inner = block, .order = array.order, .index_at_start = layout.zarr.index_at_start}};
}

}  // namespace

ZarrArray zarr_result(const RasterSetSpec& spec, const CreateOptions& options,
                      std::vector<std::string>& warnings) {
  const FileLayout& layout = options.layout;
  const ImageSpec& image = spec.raster;
  ZarrArray array;
  array.version = layout.zarr.version == 0 ? 3 : layout.zarr.version;
  if (array.version != 2 && array.version != 3)
    throw InvalidArgument(fmt::format("Zarr {} is not written; choose 2 or 3", array.version));
  array.type = options.stored.value_or(StoredType(image.type));
  array.big_endian = layout.zarr.big_endian;
  array.keys_of_v2 = array.version == 2 || layout.zarr.keys_of_v2;
  if (layout.zarr.separator != 0) array.separator = layout.zarr.separator;
  for (const RasterAxis& axis : spec.axes) {
    if (axis.single || spec.count() == 1) continue;
    array.shape.push_back(axis.size), array.names.push_back(axis.name);
    array.chunk.push_back(positions_of(layout.zarr.chunk_others, axis.name, axis.size));
  }
  const std::size_t others = array.shape.size();
  const Extent tile = layout.tiled ? layout.tile : kUsualChunk;
  array.shape.insert(array.shape.end(), {image.extent.rows, image.extent.cols});
  array.chunk.insert(array.chunk.end(),
                     {std::min(tile.rows, image.extent.rows), std::min(tile.cols, image.extent.cols)});
  array.names.insert(array.names.end(), {"y", "x"});
  if (const std::int64_t channels = image.channels / array.type.parts(); channels > 1) {
    array.shape.push_back(channels), array.names.emplace_back(channel_axis(spec.axes));
    array.chunk.push_back(
        positions_of(layout.zarr.chunk_others, array.names.back(), channels, layout.planar ? 1 : channels));
  }
  check_axes(layout, spec.axes, array);
  array.order.resize(array.shape.size());
  std::iota(array.order.begin(), array.order.end(), 0);
  array.codecs = codecs_of(layout, array.version, array.type.bits / 8);
  fit_to_version(array, warnings);
  take_shards(layout, others, array, warnings);
  check_size(array);
  if (const auto fill = zarr_fill(layout.zarr.fill, array.type))
    array.fill = *fill, array.fill_text = layout.zarr.fill;
  else
    array.fill_text = array.type.kind == StoredType::Kind::boolean ? "false"
                      : array.type.is_complex()                    ? "[0.0, 0.0]"
                                                                   : "0";
  if (!options.metadata.attributes.empty()) array.attributes = options.metadata.attributes;
  return array;
}

void set_usual_zarr_layout(FileLayout& layout, StoredType type) {
  layout.compression = Compression::zstd;
  layout.level = 1;
  if (type.bits > 8)
    layout.zarr.codecs =
        R"([{"name": "blosc", "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "bitshuffle"}}])";
}

void set_order(const ZarrLayout& layout, const ZarrAxes& axes, ZarrArray& array,
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

void set_raster(ZarrArray& array, const ZarrAxes& axes) {
  const auto block = [&](int axis) { return axis < 0 ? 1 : array.block()[static_cast<std::size_t>(axis)]; };
  const std::int64_t pixel = array.type.bytes_of(axes.channel > axes.col ? block(axes.channel) : 1);
  for (ZarrCodec& codec : array.codecs)
    if (codec.raster) codec.raster = deflate::Raster{pixel, pixel * block(axes.col)};
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
