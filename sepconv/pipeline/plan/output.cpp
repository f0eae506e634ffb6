#include "sepconv/pipeline/plan/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/plan/plan.hpp"

namespace sepconv {
namespace {

/// Strips of a source are kept up to this size. Beyond, an encoder would hold that much per thread.
constexpr std::int64_t kLargestKeptStrip = std::int64_t{4} << 20;
/// Likewise for tiles.
constexpr std::int64_t kLargestKeptTile = std::int64_t{64} << 20;
constexpr Extent kUsualTile{512, 512};
/// TIFF 6.0, section 15: the sides of tiles are multiples of it.
constexpr std::int64_t kTileUnit = 16;

using Map = std::optional<PixelMap>;

bool is_scaled(const Map& map) { return map && map->scales(); }

bool jpeg_can_hold(const ImageSpec& spec) {
  return spec.type == PixelType::u8 && (spec.channels == 1 || spec.channels == 3);
}

/// Tiles of so many bytes: as they are, the usual ones, or of half their sides, and so on, down to the least
/// that TIFF has. What is then still too large goes in strips.
void shrink_tiles(FileLayout& layout, std::int64_t pixel_bytes, std::int64_t most_bytes) {
  if (layout.tile.area() * pixel_bytes > most_bytes && layout.tile.area() > kUsualTile.area())
    layout.tile = kUsualTile;
  while (layout.tile.area() * pixel_bytes > most_bytes &&
         std::max(layout.tile.rows, layout.tile.cols) > kTileUnit) {
    layout.tile.rows = std::max(kTileUnit, round_up(layout.tile.rows / 2, kTileUnit));
    layout.tile.cols = std::max(kTileUnit, round_up(layout.tile.cols / 2, kTileUnit));
  }
  layout.tiled = layout.tile.area() * pixel_bytes <= most_bytes;
}

/// What a pixel of the result stands for: its own bytes, or those of the source that a scaled one is made of
/// if they are more. Blocks of a file that are encoded whole are made smaller by it.
std::int64_t pixel_bytes_behind(const Reader* source, const ImageSpec& result, const Map& map) {
  if (source == nullptr || !is_scaled(map)) return result.pixel_bytes();
  return std::max(result.pixel_bytes(), ceil_div(source->spec().bytes(), result.extent.area()));
}

/// The layout of a source as far as a result of this spec can and should have it.
FileLayout inherited_layout(const Reader& source, const ImageSpec& spec, std::int64_t bytes_behind,
                            const Map& map, Work work, const OutputRequest& request,
                            std::vector<std::string>& warnings) {
  const bool rearranged = !map && work == Work::none;
  const bool moved = rearranged || (map && map->turned && !map->scales());
  const std::optional<FileLayout>& from = source.layout().file;
  if (!from) return {};
  FileLayout layout = *from;
  // What is only moved loses nothing.
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
    layout.rows_per_strip = 0;
  }
  if (layout.tiled) {
    const Extent whole{round_up(layout.tile.rows, kTileUnit), round_up(layout.tile.cols, kTileUnit)};
    if (whole != layout.tile && !request.tile) {
      warnings.push_back(
          fmt::format("tiles of {} x {} where the source's are {} x {}: TIFF has only multiples of {}",
                      whole.cols, whole.rows, layout.tile.cols, layout.tile.rows, kTileUnit));
    }
    layout.tile = whole;
  }
  if (layout.tiled) shrink_tiles(layout, bytes_behind, rearranged ? kLargestKeptStrip : kLargestKeptTile);
  if (is_scaled(map) && from->tiled && layout.tile != from->tile && !request.tile) {
    warnings.push_back(fmt::format(
        "{} where the source has tiles of {} x {}: each pixel is made of {} bytes of the source",
        layout.tiled ? fmt::format("tiles of {} x {}", layout.tile.cols, layout.tile.rows) : "strips",
        from->tile.cols, from->tile.rows, bytes_behind));
  }
  if (!layout.tiled && layout.rows_per_strip * spec.row_bytes() > kLargestKeptStrip)
    layout.rows_per_strip = 0;
  layout.planar = layout.planar && spec.channels > 1;
  return layout;
}

FileLayout chosen_layout(const Reader* source, const ImageSpec& spec, std::int64_t bytes_behind,
                         const OutputRequest& request, const Map& map, Work work,
                         std::vector<std::string>& warnings) {
  FileLayout layout = source != nullptr
                          ? inherited_layout(*source, spec, bytes_behind, map, work, request, warnings)
                          : FileLayout{};
  if (layout.compression == Compression::jpeg && !request.compression)
    warnings.emplace_back(
        "compressed as JPEG once more, like the source: pixels change a little (quality 90); another "
        "compression loses nothing");
  if (request.compression) {
    layout.compression = *request.compression;
    layout.level = request.level;
  }
  if (request.tile) {
    layout.tiled = !request.tile->empty();
    if (layout.tiled) layout.tile = *request.tile;
    layout.rows_per_strip = 0;
  }
  if (is_scaled(map) && !layout.tiled)
    layout.rows_per_strip = std::max<std::int64_t>(1, kLargestKeptStrip / (bytes_behind * spec.extent.cols));
  if (request.planar) layout.planar = true;
  if (request.no_predictor) layout.predictor = false;
  if (request.cog) {
    if (!layout.tiled) layout.tile = kUsualTile;
    layout.tiled = true;
    layout.levels = Levels::cloud;
  }
  if (request.pyramid == false) layout.levels = Levels::none;
  if (request.pyramid == true && layout.levels == Levels::none) layout.levels = Levels::behind;
  return layout;
}

/// The layout options that the caller gave, by their names.
std::vector<std::string> given_layout_options(const OutputRequest& request) {
  std::vector<std::string> options;
  if (request.compression)
    options.push_back(fmt::format("OutputRequest::compression {}", name_of(*request.compression)));
  if (request.tile) options.emplace_back("OutputRequest::tile");
  if (request.planar) options.emplace_back("OutputRequest::planar");
  if (request.no_predictor) options.emplace_back("OutputRequest::no_predictor");
  if (request.pyramid == true) options.emplace_back("OutputRequest::pyramid");
  if (request.cog) options.emplace_back("OutputRequest::cog");
  if (request.big_tiff)
    options.emplace_back(*request.big_tiff ? "OutputRequest::big_tiff = true"
                                           : "OutputRequest::big_tiff = false");
  return options;
}

/// An option that would be ignored is refused, unless the format stores everything as it says in any case.
void check_layout_options(const std::filesystem::path& path, const OutputRequest& request, Formats formats) {
  const Format* const format = format_of_name(path, formats);
  if (format == nullptr || format->has_layout) return;
  OutputRequest other = request;
  if (request.compression == format->compression) other.compression.reset();
  const std::vector<std::string> options = given_layout_options(other);
  if (options.empty()) return;
  const auto able = std::ranges::find_if(formats, &Format::has_layout);
  const std::string way = able == formats.end()
                              ? "leave it out"
                              : fmt::format("leave it out or end the name in {}",
                                            able->endings.substr(0, able->endings.find(' ')));
  throw InvalidArgument(fmt::format("{} means nothing for {}, which {} becomes; {}", options.front(),
                                    format->name, path.string(), way));
}

/// What a name could not be that of.
void check_output_name(const std::filesystem::path& path) {
  if (path.empty()) throw InvalidArgument("the name of the output image is empty; give one, like out.tif");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw IoError(fmt::format("cannot write {}: it is a folder; add the name of a file, like {}",
                              path.string(), (path / "out.tif").string()),
                  EISDIR);
  }
}

}  // namespace

ImageChange change_of(const StoredSpec& source, const StoredSpec& result, const Rect& region, const Map& map,
                      Work work) {
  const Extent made = region_spec({result.extent}, region).extent;
  ImageChange change{.map = map,
                     .channels = (!map && work == Work::none) || result.channels != source.channels,
                     .to_one_channel = result.channels == 1,
                     .type = result.type != source.type,
                     .values = work != Work::none,
                     .part = made == result.extent ? Rect{} : region,
                     .from = source,
                     .to = result};
  if (map) {
    const auto [row, col] =
        std::pair(static_cast<double>(change.part.row), static_cast<double>(change.part.col));
    change.map = map->then({.row = row, .col = col});
  }
  return change;
}

CreateOptions output_options(const ImageSpec& result, const Reader* source, const OutputRequest& request,
                             const Map& map, Work work) {
  CreateOptions options;
  const ImageSpec spec = region_spec(result, request.region);
  options.layout = chosen_layout(source, spec, pixel_bytes_behind(source, result, map), request, map, work,
                                 options.layout_warnings);
  if (source != nullptr) {
    Metadata metadata = source->metadata();
    declare(request.missing, work, metadata, options.warnings);
    options.metadata = metadata.kept_for(change_of({source->spec(), source->layout().stored},
                                                   {result, request.stored}, request.region, map, work),
                                         options.warnings);
  }
  options.stored = request.stored;
  options.overwrite = request.overwrite;
  options.durable = request.durable;
  options.big_tiff = request.big_tiff;
  return options;
}

std::optional<PixelMap> map_of(const Chain& chain, const ImageSpec& source) {
  const std::vector<ImageSpec> specs = chain.specs(source);
  const auto ratio = [](std::int64_t cell, std::int64_t from, std::int64_t to) {
    return cell > 0 ? static_cast<double>(cell) : static_cast<double>(from) / static_cast<double>(to);
  };
  PixelMap map;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const StageTraits& traits = chain.stages()[i]->traits();
    const Extent from = specs[i].extent;
    const Extent to = specs[i + 1].extent;
    if (traits.is_transpose) {
      map = map.then({.turned = true});
    } else if (traits.scales) {
      map = map.then({.rows = ratio(traits.cell.rows, from.rows, to.rows),
                      .cols = ratio(traits.cell.cols, from.cols, to.cols)});
    } else if (from != to || traits.product != Product::none) {
      return std::nullopt;
    }
  }
  return map;
}

std::optional<StoredType> stored_by(const Chain& chain, const Reader& source) {
  const std::optional<StoredType> stored = source.layout().stored;
  if (!stored) return std::nullopt;
  chain.check_takes(source);
  const PixelType result = chain.result_spec(source.spec()).type;
  const bool casts = std::ranges::any_of(chain.stages(), [](const StagePtr& stage) {
    const auto& operation = stage->traits().pointwise;
    return operation && operation->kind == PointwiseOp::Kind::round_to;
  });
  if (!casts && result == stored->pixels()) return stored;
  if (!stored->is_complex()) return std::nullopt;
  return StoredType(StoredType::Kind::complex, static_cast<int>(16 * size_of(result)));
}

CreateOptions output_like(const Reader& source, const Chain& chain, const OutputRequest& request,
                          const MissingOptions& missing) {
  OutputRequest whole = request;
  whole.missing = missing_pixels(source, chain, missing);
  whole.stored = stored_by(chain, source);
  CreateOptions options = output_options(chain.result_spec(source.spec()), &source, whole,
                                         map_of(chain, source.spec()), chain.work());
  if (!request.pyramid && !request.cog) options.layout.levels = Levels::none;
  return options;
}

CreateOptions output_options(const std::filesystem::path& path, const ImageSpec& result, const Reader* source,
                             const OutputRequest& request, const Map& map, Work work, Formats formats) {
  check_output_name(path);
  check_layout_options(path, request, formats);
  if (request.cog && (request.pyramid == false || (request.tile && request.tile->empty())))
    throw InvalidArgument(
        "a Cloud Optimized GeoTIFF has tiles and levels: leave strips and a pyramid of none out, or "
        "OutputRequest::cog");
  CreateOptions options = output_options(result, source, request, map, work);
  const Format* const format = format_of_name(path, formats);
  if (options.layout.levels != Levels::none && format != nullptr && !format->has_layout)
    options.warnings.push_back(
        fmt::format("the smaller levels are not kept: {} holds the full image only", format->name));
  return options;
}

Geometries geometries_of(const std::filesystem::path& path, const ImageSpec& result, const Reader* source,
                         const OutputRequest& request, const Map& map, Work work, Formats formats) {
  Geometries geometries{output_options(path, result, source, request, map, work, formats), {}};
  const Format* const format = format_of_name(path, formats);
  if (format == nullptr || !format->has_layout || request.tile || request.cog) return geometries;
  FileLayout tiles;
  tiles.tile = kUsualTile;
  shrink_tiles(tiles, pixel_bytes_behind(source, result, map), kLargestKeptStrip);
  OutputRequest other = request;
  other.tile = geometries.first.layout.tiled ? Extent{} : tiles.tile;
  geometries.other = output_options(result, source, other, map, work);
  return geometries;
}

std::string plan_in_either(const Geometries& geometries,
                           const std::function<void(const CreateOptions&)>& plan) {
  std::exception_ptr failure;
  try {
    plan(geometries.first);
    return "";
  } catch (const OutOfMemory&) {
    if (!geometries.other) throw;
    failure = std::current_exception();
  }
  const FileLayout& layout = geometries.other->layout;
  try {
    plan(*geometries.other);
  } catch (const OutOfMemory&) {
    if (layout.tiled) throw;
    std::rethrow_exception(failure);  // strips want the higher ceiling
  }
  if (!layout.tiled) return "tiles of so many channels do not fit the ceiling, so the result has strips";
  return fmt::format("strips of full width do not fit the ceiling, so the result has tiles of {} x {}",
                     layout.tile.rows, layout.tile.cols);
}

}  // namespace sepconv
