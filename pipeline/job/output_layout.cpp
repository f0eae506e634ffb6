#include "pipeline/job/output_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/printable.hpp"

namespace sepconv {
namespace {

/// Strips of a source are preserved up to this size; an encoder buffers that much per thread.
constexpr std::int64_t kMaxStripBytes = std::int64_t{4} << 20;
/// The same for tiles.
constexpr std::int64_t kMaxTileBytes = std::int64_t{64} << 20;
constexpr Extent kDefaultTile{512, 512};
/// Minimum tile side.
constexpr std::int64_t kMinTileSide = 16;

using Map = std::optional<PixelTransform>;

bool is_scaled(const Map& map) { return map && map->scales(); }

bool jpeg_can_hold(const ImageSpec& spec) {
  return spec.type == PixelType::u8 && (spec.channels == 1 || spec.channels == 3);
}

/// Reduces tiles to at most `max_bytes`: unchanged, the default, or its sides halved down to the minimum of
/// TIFF. Uses strips if that is still too large.
void shrink_tiles(FileLayout& layout, std::int64_t pixel_bytes, std::int64_t max_bytes) {
  if (layout.tile.area() * pixel_bytes > max_bytes && layout.tile.area() > kDefaultTile.area())
    layout.tile = kDefaultTile;
  while (layout.tile.area() * pixel_bytes > max_bytes &&
         std::max(layout.tile.rows, layout.tile.cols) > kMinTileSide) {
    layout.tile.rows = std::max(kMinTileSide, round_up(layout.tile.rows / 2, kMinTileSide));
    layout.tile.cols = std::max(kMinTileSide, round_up(layout.tile.cols / 2, kMinTileSide));
  }
  layout.tiled = layout.tile.area() * pixel_bytes <= max_bytes;
}

/// Warns that the source's tiles are too large to be preserved. Chunks of Zarr are named by rows first, as in
/// Zarr.
void warn_about_shrunk_tiles(const FileLayout& from, const FileLayout& to, std::int64_t max_bytes,
                             std::vector<std::string>& warnings) {
  if (!from.tiled || (to.tiled && to.tile == from.tile)) return;
  const bool is_zarr = from.zarr.version != 0;
  const auto sides = [&](Extent tile) {
    return is_zarr ? fmt::format("{} x {}", tile.rows, tile.cols)
                   : fmt::format("{} x {}", tile.cols, tile.rows);
  };
  const char* const tiles = is_zarr ? "chunks" : "tiles";
  warnings.push_back(fmt::format("{} where the source has {} of {}: those would be more than {} MiB",
                                 to.tiled ? fmt::format("{} of {}", tiles, sides(to.tile)) : "strips", tiles,
                                 sides(from.tile), max_bytes >> 20));
}

/// Bytes per result pixel: its own, or those of the source pixels behind a scaled one if they are more.
/// Blocks that are encoded whole shrink accordingly.
std::int64_t bytes_per_result_pixel(const Reader* source, const ImageSpec& result, const Map& map) {
  if (source == nullptr || !is_scaled(map)) return result.pixel_bytes();
  return std::max(result.pixel_bytes(), ceil_div(source->spec().bytes(), result.extent.area()));
}

/// The source's layout as far as a result of this spec can and should have it.
FileLayout inherited_layout(const Reader& source, const ImageSpec& spec, std::int64_t pixel_bytes,
                            const ImageChange& change, const OutputOptions& request, std::int64_t tile_unit,
                            std::vector<std::string>& warnings) {
  const Map& map = change.map;
  const bool rearranged = !map && !change.values;
  const bool moved = rearranged || (map && map->turned && !map->scales());
  const std::optional<FileLayout>& from = source.layout().file;
  if (!from) return {};
  FileLayout layout = *from;
  // Moved pixels must stay lossless.
  if (layout.compression == Compression::jpeg && (moved || !jpeg_can_hold(spec))) {
    layout.compression = Compression::deflate;
    layout.level = 0;
    layout.predictor = true;
    if (!request.compression)
      warnings.emplace_back(
          moved ? "compressed with deflate where the source is JPEG: what is only moved loses nothing"
                : "compressed with deflate where the source is JPEG, which cannot hold the result's pixels");
  }
  if (moved) {
    std::swap(layout.tile.rows, layout.tile.cols);
    std::swap(layout.zarr.shard.rows, layout.zarr.shard.cols);
    for (char& axis : layout.zarr.order) axis = axis == 'y' ? 'x' : axis == 'x' ? 'y' : axis;
    layout.rows_per_strip = 0;
  }
  if (layout.tiled) {
    const Extent whole{round_up(layout.tile.rows, tile_unit), round_up(layout.tile.cols, tile_unit)};
    if (whole != layout.tile && !request.tile) {
      warnings.push_back(
          fmt::format("tiles of {} x {} where the source's are {} x {}: TIFF has only multiples of {}",
                      whole.cols, whole.rows, layout.tile.cols, layout.tile.rows, tile_unit));
    }
    layout.tile = whole;
  }
  const std::int64_t max_bytes = rearranged ? kMaxStripBytes : kMaxTileBytes;
  const FileLayout unshrunk = layout;
  if (layout.tiled) shrink_tiles(layout, pixel_bytes, max_bytes);
  if (!is_scaled(map) && !request.tile) warn_about_shrunk_tiles(unshrunk, layout, max_bytes, warnings);
  if (is_scaled(map) && from->tiled && layout.tile != from->tile && !request.tile) {
    warnings.push_back(fmt::format(
        "{} where the source has tiles of {} x {}: each pixel is made of {} bytes of the source",
        layout.tiled ? fmt::format("tiles of {} x {}", layout.tile.cols, layout.tile.rows) : "strips",
        from->tile.cols, from->tile.rows, pixel_bytes));
  }
  if (!layout.tiled && layout.rows_per_strip * spec.row_bytes() > kMaxStripBytes) layout.rows_per_strip = 0;
  if (!map || map->turned) {
    const auto is_renamed = [](const std::string& name, const char* usual) {
      return !name.empty() && name != usual;
    };
    if (is_renamed(layout.zarr.rows_name, "y") || is_renamed(layout.zarr.cols_name, "x"))
      warnings.push_back(fmt::format("the axes {} and {} are called y and x: rows and columns are exchanged",
                                     printable(layout.zarr.rows_name), printable(layout.zarr.cols_name)));
    layout.zarr.rows_name.clear(), layout.zarr.cols_name.clear();
  }
  if (!map) layout.zarr.channels_name.clear(), layout.zarr.keeps_channel = false;
  layout.nearest_levels = layout.nearest_levels && (!change.values || change.keeps_values);
  layout.planar = layout.planar && spec.channels > 1;
  if (spec.channels != source.spec().channels)
    for (auto* const of : {&layout.zarr.chunk_others, &layout.zarr.shard_others})
      std::erase_if(*of, [](const AxisPositions& positions) { return positions.axis == "c"; });
  return layout;
}

}  // namespace

namespace {

Chroma chosen_chroma(const Reader* source, const OutputOptions& request, int quality) {
  if (request.chroma) return *request.chroma;
  if (quality >= kFullChromaQuality) return {1, 1};
  if (source != nullptr && source->layout().chroma) return *source->layout().chroma;
  return {};
}

/// Sets the size of the result's chunks and shards along axes other than y and x.
void choose_chunk_axes(const OutputOptions& request, FileLayout& layout) {
  std::vector<AxisPositions>& others = layout.zarr.chunk_others;
  if (request.planar) std::erase_if(others, [](const AxisPositions& of) { return of.axis == "c"; });
  const auto merge = [](const std::vector<AxisPositions>& requested, std::vector<AxisPositions>& positions) {
    std::erase_if(positions,
                  [&](const AxisPositions& of) { return find_positions(requested, of.axis) != nullptr; });
    positions.insert(positions.end(), requested.begin(), requested.end());
  };
  if (layout.zarr.shard.empty()) layout.zarr.shard_others.clear();
  merge(request.tile_others, others);
  merge(request.shard_others, layout.zarr.shard_others);
  if (layout.zarr.shard.empty() && !request.shard_others.empty()) layout.zarr.shard = layout.tile;
}

}  // namespace

std::string recompressed_jpeg_warning(Chroma chroma, std::int64_t channels, std::string_view other) {
  return fmt::format(
      "compressed as JPEG once more, like the source, with quality 90{}: pixels change, beside edges by {} "
      "of 255; another {} loses nothing",
      channels == 1 ? "" : " and " + name_of(chroma),
      channels == 1 || chroma == Chroma{1, 1} ? "tens" : "a hundred", other);
}

FileLayout chosen_layout(const Reader* source, const ImageSpec& result, const OutputOptions& request,
                         const ImageChange& change, std::int64_t tile_unit,
                         std::vector<std::string>& warnings) {
  const Map& map = change.map;
  const ImageSpec spec = region_spec(result, request.region);
  const std::int64_t pixel_bytes = bytes_per_result_pixel(source, result, map);
  FileLayout layout = source != nullptr
                          ? inherited_layout(*source, spec, pixel_bytes, change, request, tile_unit, warnings)
                          : FileLayout{};
  if (layout.compression == Compression::jpeg && !request.compression)
    warnings.push_back(recompressed_jpeg_warning(chosen_chroma(source, request, layout.level), spec.channels,
                                                 "compression"));
  if (request.compression) {
    layout.compression = *request.compression;
    layout.level = request.level;
    layout.predictor = true;  // a source without predictor does not matter for the requested compression
    layout.zarr.codecs.clear();
  }
  layout.chroma = chosen_chroma(source, request, layout.level);
  if (request.tile) {
    layout.tiled = !request.tile->empty();
    if (layout.tiled) layout.tile = *request.tile;
    layout.rows_per_strip = 0;
  }
  if (is_scaled(map) && !layout.tiled)
    layout.rows_per_strip = std::max<std::int64_t>(1, kMaxStripBytes / (pixel_bytes * spec.extent.cols));
  if (request.zarr && *request.zarr != layout.zarr.version)
    layout.zarr.v2_chunk_keys = false, layout.zarr.separator = 0;
  layout.zarr.version = request.zarr.value_or(layout.zarr.version);
  if (layout.zarr.version == 2 && !request.shard && !std::exchange(layout.zarr.shard, {}).empty())
    warnings.emplace_back("chunks are files of their own where the source has shards: Zarr 2 has none");
  layout.zarr.shard = request.shard.value_or(layout.zarr.shard);
  choose_chunk_axes(request, layout);
  const bool is_in_place = map == PixelTransform() && spec.extent == result.extent;
  if (!is_in_place) layout.zarr.labels.folder.clear();
  if (request.planar) layout.planar = true;
  if (request.no_predictor) layout.predictor = false;
  if (request.cog) {
    if (!layout.tiled) layout.tile = kDefaultTile;
    layout.tiled = true;
    layout.levels = Levels::cloud;
  }
  if (request.pyramid == false) layout.levels = Levels::none;
  if (!request.cog && layout.levels == Levels::cloud) layout.levels = Levels::behind;
  if (request.nearest_levels) layout.nearest_levels = true;
  if (request.pyramid == true && layout.levels == Levels::none) layout.levels = Levels::behind;
  return layout;
}

Extent default_tile(const Reader* source, const ImageSpec& result, const Map& map) {
  FileLayout tiles;
  tiles.tile = kDefaultTile;
  shrink_tiles(tiles, bytes_per_result_pixel(source, result, map), kMaxStripBytes);
  return tiles.tile;
}

}  // namespace sepconv
