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

constexpr Extent kUsualChunk{512, 512};
constexpr int kUsualBlosc = 5;

std::vector<ZarrCodec> codecs_of(const FileLayout& layout, int version, std::int64_t element_bytes,
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
      if (layout.level > kHighestDeflate)
        warnings.push_back(
            fmt::format("chunks are encoded by level {} of deflate in place of {}: Zarr has none higher",
                        kHighestDeflate, layout.level));
      return {{.kind = deflated,
               .level = layout.level < 1 ? kUsualDeflate : std::min(layout.level, kHighestDeflate)}};
    default:
      throw InvalidArgument(fmt::format("Zarr has no compression {}; choose zstd, deflate or none",
                                        name_of(layout.compression)));
  }
}

/// How many positions an object of the result holds along an axis of this many.
std::int64_t positions_of(const std::vector<AxisPositions>& of, std::string_view axis, std::int64_t size,
                          std::int64_t usual = 1) {
  const AxisPositions* const said = find_positions(of, axis);
  if (said == nullptr) return usual;
  return said->asked_for ? said->count : std::min(said->count, size);
}

/// Axes that are asked for and are not there. `others`: those besides y and x, as they are asked for.
void check_axes(const FileLayout& layout, const std::vector<std::string>& others, const RasterAxes& axes,
                std::vector<std::string>& warnings) {
  for (const auto* const of : {&layout.zarr.chunk_others, &layout.zarr.shard_others}) {
    const char* const object = of == &layout.zarr.chunk_others ? "chunk" : "shard";
    for (const AxisPositions& positions : *of) {
      if (!positions.asked_for || std::ranges::find(others, positions.axis) != others.end()) continue;
      if (find_axis(axes, positions.axis) == nullptr)
        throw InvalidArgument(fmt::format(
            "the result has no axis {}, of which {}s are to hold {}; its axes are {}{}y, x", positions.axis,
            object, positions.count, fmt::join(others, ", "), others.empty() ? "" : ", "));
      warnings.push_back(
          fmt::format("a {} holds no {} positions of axis {}: one is taken, and the result has not this axis",
                      object, positions.count, positions.axis));
    }
  }
}

/// For what would be read by nobody.
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
        fmt::format("shards of {} hold more than {} chunks of {}, and nobody could hold their index; make "
                    "chunks larger or shards smaller",
                    fmt::join(array.chunk, " x "), kMaxShardParts, fmt::join(array.block(), " x ")));
}

void take_shards(const FileLayout& layout, std::size_t others, const std::vector<std::string>& names,
                 ZarrArray& array, std::vector<std::string>& warnings) {
  const Extent asked = layout.zarr.shard;
  if (asked.empty()) return;
  if (array.version == 2)
    throw InvalidArgument("Zarr 2 has no shards; leave OutputOptions::shard out, or write Zarr 3");
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
    const std::string& name = names[i < others ? i : i - 2];
    const std::int64_t usual = i > others ? array.shape[i] : 1;  // all channels
    const std::int64_t wanted = positions_of(layout.zarr.shard_others, name, array.shape[i], usual);
    array.chunk[i] = round_up(wanted, block[i]);
    const AxisPositions* const said = find_positions(layout.zarr.shard_others, name);
    if (said != nullptr && said->asked_for && array.chunk[i] != wanted)
      warnings.push_back(fmt::format("shards of {} {} in place of {}: they hold whole chunks", name,
                                     array.chunk[i], wanted));
  }
  if (layout.zarr.nests_shards)
    warnings.emplace_back("shards hold chunks where the source's hold shards of chunks");
  array.shards = {{.inner = block, .order = array.order, .index_at_start = layout.zarr.index_at_start}};
}

/// The source's, as far as the type and the version have it.
void take_fill(const FileLayout& layout, ZarrArray& array, std::vector<std::string>& warnings) {
  array.has_fill = array.version != 2 || layout.zarr.fill != "null";
  const ZarrElement kept = zarr_fill(layout.zarr.fill, array.type, 3).value_or(ZarrElement{});
  array.fill =
      zarr_fill(zarr_fill_text(kept, array.type, array.version), array.type, array.version).value_or(kept);
  if (array.fill != kept)
    warnings.push_back(fmt::format(
        "the fill value is NaN in place of {}: Zarr 2 has no bits of a NaN; chunks of it are stored",
        layout.zarr.fill));
}

/// The array of images, without what is stored together along each axis.
ZarrArray empty_array(const RasterSetSpec& spec, const CreateOptions& options) {
  const ZarrLayout& layout = options.layout.zarr;
  ZarrArray array;
  array.version = layout.version == 0 ? 3 : layout.version;
  if (array.version != 2 && array.version != 3)
    throw InvalidArgument(fmt::format("Zarr {} is not written; choose 2 or 3", array.version));
  array.type = options.stored.value_or(SampleType(spec.raster.type));
  array.big_endian = layout.big_endian;
  array.keys_of_v2 = array.version == 2 || layout.keys_of_v2;
  if (layout.separator != 0) array.separator = layout.separator;
  if (!options.metadata.attributes.empty()) array.attributes = options.metadata.attributes;
  return array;
}

}  // namespace

void fit_to_version(ZarrArray& array, std::vector<std::string>& warnings) {
  if (array.version == 3) {
    for (ZarrCodec& codec : array.codecs) {
      const std::string was = name_of(codec);
      if (codec.kind == ZarrCodec::Kind::zlib)
        codec.kind = ZarrCodec::Kind::gzip;
      else if (codec.kind == ZarrCodec::Kind::lz4)
        codec = {.kind = ZarrCodec::Kind::blosc,
                 .level = kUsualBlosc,
                 .blosc_codec = "lz4",
                 .blosc_type_size = array.type.bits / 8};
      else
        continue;
      warnings.push_back(
          fmt::format("chunks are encoded by {} in place of {}: Zarr 3 has none", name_of(codec), was));
    }
    return;
  }
  const auto checksums = std::erase_if(
      array.codecs, [](const ZarrCodec& codec) { return codec.kind == ZarrCodec::Kind::crc32c; });
  if (checksums > 0) warnings.emplace_back("chunks have no checksum (crc32c): Zarr 2 has none");
  // Decoders see it in the frames, and check it.
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

ZarrArray zarr_result(const RasterSetSpec& spec, const CreateOptions& options,
                      std::vector<std::string>& warnings) {
  const FileLayout& layout = options.layout;
  const ImageSpec& image = spec.raster;
  ZarrArray array = empty_array(spec, options);
  std::vector<std::string> asked_as;  // besides y and x
  for (const RasterAxis& axis : spec.axes) {
    if (axis.single) continue;
    array.shape.push_back(axis.size), array.names.push_back(axis.name), asked_as.push_back(axis.name);
    array.chunk.push_back(positions_of(layout.zarr.chunk_others, axis.name, axis.size));
  }
  const std::size_t others = array.shape.size();
  const Extent tile = layout.tiled ? layout.tile : kUsualChunk;
  array.shape.insert(array.shape.end(), {image.extent.rows, image.extent.cols});
  array.chunk.insert(array.chunk.end(),
                     {std::min(tile.rows, image.extent.rows), std::min(tile.cols, image.extent.cols)});
  array.names.push_back(layout.zarr.rows_name.empty() ? "y" : layout.zarr.rows_name);
  array.names.push_back(layout.zarr.cols_name.empty() ? "x" : layout.zarr.cols_name);
  const std::int64_t channels = image.channels / array.type.parts();
  if (channels > 1 || layout.zarr.keeps_channel) {
    asked_as.emplace_back(channel_axis(spec.axes));
    array.shape.push_back(channels);
    array.names.push_back(layout.zarr.channels_name.empty() ? asked_as.back() : layout.zarr.channels_name);
    array.chunk.push_back(
        positions_of(layout.zarr.chunk_others, asked_as.back(), channels, layout.planar ? 1 : channels));
  }
  check_axes(layout, asked_as, spec.axes, warnings);
  array.order.resize(array.shape.size());
  std::iota(array.order.begin(), array.order.end(), 0);
  array.codecs = codecs_of(layout, array.version, array.type.bits / 8, warnings);
  fit_to_version(array, warnings);
  take_shards(layout, others, asked_as, array, warnings);
  check_size(array);
  take_fill(layout, array, warnings);
  return array;
}

void set_usual_zarr_layout(FileLayout& layout, SampleType type) {
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
