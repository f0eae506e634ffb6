#include "pipeline/job/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <utility>

#include "core/error.hpp"
#include "pipeline/job/option.hpp"
#include "pipeline/job/output_layout.hpp"

namespace sepconv {
namespace {

using Map = std::optional<PixelTransform>;

/// Multiple for tile sides if no file is named: TIFF 6.0, section 15.
constexpr std::int64_t kTileUnit = 16;

/// Throws for an option that would be ignored, unless the format always stores data as the option requests.
void check_layout_options(const std::filesystem::path& path, const OutputOptions& request, Formats formats) {
  const Format* const format = format_of_name(path, formats);
  if (format == nullptr) return;
  using enum OptionScope;
  OutputOptions other = request;
  if (request.compression == format->compression) other.compression.reset(), other.level = 0;
  const std::vector<std::string> options = !format->has_layout ? given_options(other, {layout, tiff, zarr})
                                           : format->is_folder ? given_options(other, {tiff})
                                                               : given_options(other, {zarr});
  if (options.empty()) return;
  const bool needs_folder = !given_options(request, {zarr}).empty() && !format->is_folder;
  const auto able = std::ranges::find_if(formats, [&](const Format& candidate) {
    return candidate.has_layout && (!needs_folder || candidate.is_folder);
  });
  const std::string remedy = able == formats.end()
                                 ? "leave it out"
                                 : fmt::format("leave it out or end the name in {}",
                                               able->endings.substr(0, able->endings.find(' ')));
  throw InvalidArgument(fmt::format("{} means nothing for {}, which {} becomes; {}", options.front(),
                                    format->name, path.string(), remedy));
}

/// Throws for a name that cannot be an output image.
void check_output_name(const std::filesystem::path& path, const Format* format) {
  if (path.empty()) throw InvalidArgument("the name of the output image is empty; give one, like out.tif");
  std::error_code ignored;
  if ((format == nullptr || !format->is_folder) && std::filesystem::is_directory(path, ignored)) {
    throw IoError(fmt::format("cannot write {}: it is a folder; add the name of a file, like {}",
                              path.string(), (path / "out.tif").string()),
                  EISDIR);
  }
}

}  // namespace

ImageChange image_change_of(const Reader& from, const ImageSpec& to, const OutputOptions& request,
                            const Map& map, Work work) {
  SampleSpec source(from.spec(), from.layout().stored), result(to, request.stored);
  const Rect& region = request.region;
  const Extent region_extent = region_spec({result.extent}, region).extent;
  ImageChange change{.map = map,
                     .channels = (!map && work == Work::none) || result.channels != source.channels,
                     .to_one_channel = result.channels == 1,
                     .type = result.type != source.type,
                     .values = work != Work::none,
                     .part = region_extent == result.extent ? Rect{} : region,
                     .from = source,
                     .to = result};
  if (map) {
    const auto [row, col] =
        std::pair(static_cast<double>(change.part.row), static_cast<double>(change.part.col));
    change.map = map->then({.row = row, .col = col});
  }
  change.keeps_mask = request.missing.is_mask;
  const bool has_mask = from.metadata().mask_channel && (!change.channels || change.keeps_mask);
  if (has_mask && (request.holds_mask || request.missing.replaces_mask)) {
    --change.from.channels, --change.to.channels;
    change.to_one_channel = change.to.channels == 1;
  }
  return change;
}

ImageChange image_change_of(const Reader& source, const Chain& chain, const OutputOptions& request) {
  ImageChange change = image_change_of(source, chain.result_spec(source.spec()), request,
                                       pixel_transform_of(chain, source.spec()), chain.work());
  change.keeps_range = chain.keeps_range();
  change.keeps_values = chain.keeps_values();
  return change;
}

namespace {

CreateOptions options_of(const ImageSpec& result, const Reader* source, const OutputOptions& request,
                         const ImageChange& change, std::int64_t tile_unit) {
  CreateOptions options;
  ImageSpec in_file = result;
  if (source != nullptr) {
    Metadata metadata = source->metadata();
    declare(request.missing, change.values, metadata, options.warnings);
    in_file.channels -= SampleSpec(result, request.stored).channels - change.to.channels;
    options.metadata = metadata.derive_for(change, options.warnings);
    if (request.missing.replaces_mask) options.alpha = AlphaInFile::nothing;
  }
  options.layout = chosen_layout(source, in_file, request, change, tile_unit, options.layout_warnings);
  options.stored = request.stored;
  options.overwrite = request.overwrite;
  options.durable = request.durable;
  options.big_tiff = request.big_tiff;
  options.background = request.background;
  return options;
}

}  // namespace

CreateOptions output_options(const ImageSpec& result, const Reader* source, const OutputOptions& request,
                             const ImageChange& change) {
  return options_of(result, source, request, change, kTileUnit);
}

bool holds_mask(const std::filesystem::path& path, const Reader& source, Formats formats) {
  const Format* const format = format_of_name(path, formats);
  return format != nullptr && format->holds_mask != nullptr && format->holds_mask(path, source.metadata());
}

std::optional<PixelTransform> pixel_transform_of(const Chain& chain, const ImageSpec& source) {
  const std::vector<ImageSpec> specs = chain.specs(source);
  const auto ratio = [](std::int64_t cell, std::int64_t from, std::int64_t to) {
    return cell > 0 ? static_cast<double>(cell) : static_cast<double>(from) / static_cast<double>(to);
  };
  PixelTransform map;
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const PrimitiveTraits& traits = chain.stages()[i]->traits();
    const StageProperties& properties = chain.stages()[i]->properties();
    const Extent from = specs[i].extent;
    const Extent to = specs[i + 1].extent;
    if (traits.is_transpose()) {
      map = map.then({.turned = true});
    } else if (traits.changes_size) {
      map = map.then({.rows = ratio(properties.scale_factor.rows, from.rows, to.rows),
                      .cols = ratio(properties.scale_factor.cols, from.cols, to.cols)});
    } else if (from != to || properties.product != Product::none) {
      return std::nullopt;
    }
  }
  return map;
}

std::optional<SampleType> stored_type_of(const Chain& chain, const Reader& source) {
  const std::optional<SampleType> stored = source.layout().stored;
  if (!stored) return std::nullopt;
  chain.check_supports(source);
  const PixelType result = chain.result_spec(source.spec()).type;
  const bool casts =
      std::ranges::any_of(chain.stages(), [](const StagePtr& stage) { return stage->properties().casts; });
  if (!casts && result == stored->pixels()) return stored;
  if (!stored->is_complex()) return std::nullopt;
  return SampleType(SampleType::Kind::complex, static_cast<int>(16 * size_of(result)));
}

CreateOptions output_like(const Reader& source, const Chain& chain, const OutputOptions& request,
                          const MissingOptions& missing) {
  OutputOptions full_request = request;
  full_request.missing = missing_pixels(source, chain, missing);
  full_request.stored = stored_type_of(chain, source);
  CreateOptions options = output_options(chain.result_spec(source.spec()), &source, full_request,
                                         image_change_of(source, chain, full_request));
  if (!request.pyramid && !request.cog) options.layout.levels = Levels::none;
  return options;
}

namespace {

/// JPEG files; a TIFF with JPEG compression is described by its layout.
bool is_jpeg(const Format* format) {
  return format != nullptr && !format->has_layout && format->compression == Compression::jpeg;
}
bool was_jpeg(const SourceLayout& source) {
  return source.is_jpeg || (source.file && source.file->compression == Compression::jpeg);
}

}  // namespace

CreateOptions output_options(const std::filesystem::path& path, const ImageSpec& result, const Reader* source,
                             const OutputOptions& request, const ImageChange& change, Formats formats) {
  const Format* const format = format_of_name(path, formats);
  check_output_name(path, format);
  check_layout_options(path, request, formats);
  if (request.cog && (request.pyramid == false || (request.tile && request.tile->empty())))
    throw InvalidArgument(
        "a Cloud Optimized GeoTIFF has tiles and levels: leave strips and a pyramid of none out, or "
        "OutputOptions::cog");
  OutputOptions chosen = request;
  const auto* const from = source != nullptr && source->layout().file ? &*source->layout().file : nullptr;
  const bool has_default_layout = format != nullptr && format->set_default_layout != nullptr &&
                                  !request.compression && (from == nullptr || from->zarr.version == 0);
  if (has_default_layout) chosen.compression = Compression::zstd;  // regardless of the source
  CreateOptions options =
      options_of(result, source, chosen, change, format == nullptr ? kTileUnit : format->tile_unit);
  if (options.metadata.mask_channel && options.alpha != AlphaInFile::nothing && format != nullptr &&
      format->holds_mask == nullptr)
    options.warnings.push_back(
        fmt::format("the mask of the source is alpha, channel {}, of the result: {} has no masks",
                    result.channels - 1, format->name));
  if (request.background && format != nullptr && format->seen != Seen::as_picture)
    options.warnings.push_back(fmt::format(
        "OutputOptions::background changes nothing: {} keeps the channels as they are", format->name));
  if (has_default_layout)
    format->set_default_layout(options.layout, request.stored.value_or(SampleType(result.type)));
  if (const std::string& label_warning = options.layout.zarr.labels.left_out;
      !label_warning.empty() && (format == nullptr || !format->is_folder))
    options.warnings.push_back(label_warning);
  const bool was_cog = from != nullptr && from->levels == Levels::cloud && !request.cog;
  if (was_cog && format != nullptr && format->has_layout && !format->is_folder)
    options.warnings.emplace_back(
        "the source is a Cloud Optimized GeoTIFF, and the result is none: OutputOptions::cog makes one");
  if (is_jpeg(format) && source != nullptr && was_jpeg(source->layout()) && !change.values &&
      !request.compression)
    options.warnings.push_back(recompressed_jpeg_warning(options.layout.chroma, result.channels, "format"));
  if (options.layout.levels != Levels::none && format != nullptr && !format->has_layout)
    options.warnings.push_back(
        fmt::format("the smaller levels are not kept: {} holds the full image only", format->name));
  return options;
}

LayoutCandidates layout_candidates_of(const std::filesystem::path& path, const ImageSpec& result,
                                      const Reader* source, const OutputOptions& request,
                                      const ImageChange& change, Formats formats) {
  LayoutCandidates layouts{output_options(path, result, source, request, change, formats), {}};
  const Format* const format = format_of_name(path, formats);
  const FileLayout& first = layouts.first.layout;
  if (format != nullptr && format->is_folder) {
    if (first.zarr.chunk_others.empty() || !request.tile_others.empty()) return layouts;
    layouts.other = layouts.first;
    layouts.other->layout.zarr.chunk_others.clear();
  }
  if (format == nullptr || !format->has_layout || format->is_folder || request.tile || request.cog)
    return layouts;
  OutputOptions other = request;
  other.tile = first.tiled ? Extent{} : default_tile(source, result, change.map);
  layouts.other = output_options(result, source, other, change);
  layouts.other->warnings = layouts.first.warnings;
  return layouts;
}

std::string plan_with_fallback(const LayoutCandidates& layouts,
                               const std::function<void(const CreateOptions&)>& plan) {
  std::exception_ptr failure;
  try {
    plan(layouts.first);
    return "";
  } catch (const OutOfMemory&) {
    if (!layouts.other) throw;
    failure = std::current_exception();
  }
  const FileLayout& layout = layouts.other->layout;
  try {
    plan(*layouts.other);
  } catch (const OutOfMemory&) {
    if (layout.tiled) throw;
    std::rethrow_exception(failure);  // strips need the higher ceiling
  }
  if (const auto& chunk_axes = layouts.first.layout.zarr.chunk_others; !chunk_axes.empty())
    return fmt::format("a chunk holds one image in place of {}: more do not fit the ceiling",
                       to_string(chunk_axes));
  if (!layout.tiled) return "tiles with this many channels do not fit the ceiling, so the result has strips";
  return fmt::format("strips of full width do not fit the ceiling, so the result has tiles of {} x {}",
                     layout.tile.rows, layout.tile.cols);
}

}  // namespace sepconv
