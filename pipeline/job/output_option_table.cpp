#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "pipeline/job/display_range.hpp"
#include "pipeline/job/option.hpp"

namespace sepconv {
namespace {

using Options = OutputOptions;

void set_compression(Options& request, const std::string& text) {
  const Codec codec = parse_codec(shortened(text));
  request.compression = codec.compression;
  request.level = codec.level;
  request.chroma = codec.chroma;
}

/// The shape of tiles, chunks or shards: rows and columns into `sides`, further axes into `others`.
template <auto sides, auto others>
void set_block(Options& request, const std::string& text) {
  BlockShape shape = parse_block_shape(text);
  if (shape.sides) request.*sides = shape.sides;
  request.*others = std::move(shape.others);
}

void set_zarr(Options& request, const std::string& text) { request.zarr = text == "2" ? 2 : 3; }

void set_pyramid(Options& request, const std::string& text) {
  if (text != "auto" && text != "none" && text != "nearest")
    throw InvalidArgument(fmt::format("takes nothing, nearest or none, and not '{}'", shortened(text)));
  request.pyramid = text != "none";
  request.nearest_levels = text == "nearest";
}

void set_big_tiff(Options& request, const std::string& text) {
  request.big_tiff = text == "auto" ? std::nullopt : std::optional(text == "yes");
}

void set_8bit(Options& request, const std::string& text) {
  request.to_8bit = true;
  if (text != "auto") request.range_of_8bit = parse_value_range(shortened(text));
}

void set_background(Options& request, const std::string& text) {
  request.background = parse_background(shortened(text));
}

/// An option without a value.
template <auto member>
OutputOption flag_option(OptionName name, OptionScope scope, std::string_view help) {
  std::vector<OutputField> fields;
  if (scope != OptionScope::file) fields = {{name.member.substr(name.member.rfind(':') + 1), member, scope}};
  return {{{name}, help, [](Options& request, const std::string&) { request.*member = true; }},
          std::move(fields),
          scope};
}

}  // namespace

const std::vector<OutputOption>& output_option_table() {
  using enum OptionScope;
  using enum ValueKind;
  static const std::vector<OutputOption> table{
      {{{{"OutputOptions::compression", "--compress", "compress"}},
        "codec and level; deflate:1..12 (Zarr, PNG: 1..9), deflate:fast (entropy coding only), "
        "deflate:best, zstd:1..22 (default 1), zstd:fast, jpeg:1..100 (quality, default 90), jpeg:90:444, "
        ":422 or :420 (chroma; default 444 from quality 95 on, else as the input). deflate without a level "
        "picks fast or level 6 per TIFF block, and level 6 in Zarr",
        set_compression,
        text,
        "none|lzw|deflate|deflate:fast|zstd|zstd:fast|jpeg|packbits[:LEVEL]"},
       {{"compression", &Options::compression, layout}, {"level", &Options::level, layout}},
       layout},
      {{{{"OutputOptions::tile", "--tile", "tile"}},
        "TIFF tiles or Zarr chunks of N x N or ROWSxCOLS pixels, of Zarr also along other axes: "
        "z=16,512x512; 0 for strips",
        set_block<&Options::tile, &Options::tile_others>,
        text,
        "N|ROWSxCOLS|AXIS=N,...",
        0,
        0,
        "--chunk"},
       {{"tile", &Options::tile, layout}, {"tile_others", &Options::tile_others, zarr}},
       layout},
      {{{{"OutputOptions::shard", "--shard", "shard"}},
        "Zarr shard size, a multiple of the chunk; 0: no sharding, one file per chunk",
        set_block<&Options::shard, &Options::shard_others>,
        text,
        "N|ROWSxCOLS|AXIS=N,..."},
       {{"shard", &Options::shard, zarr}, {"shard_others", &Options::shard_others, zarr}},
       zarr},
      {{{{"OutputOptions::zarr", "--zarr", "zarr"}},
        "Zarr version, with OME-Zarr 0.4 or 0.5; default: the input's, or 3",
        set_zarr,
        choice,
        "2|3"},
       {{"zarr", &Options::zarr, zarr}},
       zarr},
      flag_option<&Options::planar>({"OutputOptions::planar", "--planar", "planar"}, layout,
                                    "store TIFF channels as separate planes (PlanarConfiguration 2)"),
      flag_option<&Options::no_predictor>({"OutputOptions::no_predictor", "--no-predictor", "no_predictor"},
                                          tiff, "disable the horizontal predictor"),
      {{{{"OutputOptions::pyramid", "--pyramid", "pyramid"},
         {"OutputOptions::pyramid = true", "--pyramid", "pyramid=True"},
         {"OutputOptions::pyramid = false", "--pyramid none", "pyramid=False"},
         {"OutputOptions::nearest_levels", "--pyramid nearest", "pyramid='nearest'"}},
        "write overviews (2x reductions) of a TIFF or OME-Zarr in the same pass; nearest: of single "
        "pixels, for classes; none: no overviews. Default: as the input",
        set_pyramid,
        text,
        "[=nearest|none]"},
       {{"pyramid", &Options::pyramid, layout}, {"nearest_levels", &Options::nearest_levels, layout}},
       layout},
      flag_option<&Options::cog>({"OutputOptions::cog", "--cog", "cog"}, tiff,
                                 "write a Cloud Optimized GeoTIFF (tiles and overviews)"),
      {{{{"OutputOptions::big_tiff", "--bigtiff", "bigtiff"},
         {"OutputOptions::big_tiff = true", "--bigtiff=yes", "bigtiff=True"},
         {"OutputOptions::big_tiff = false", "--bigtiff=no", "bigtiff=False"}},
        "write BigTIFF. no: classic TIFF, up to 4 GiB. auto (default): BigTIFF if it is needed",
        set_big_tiff,
        choice,
        "yes|no|auto"},
       {{"big_tiff", &Options::big_tiff, tiff}},
       tiff},
      flag_option<&Options::overwrite>({"OutputOptions::overwrite", "--force", "overwrite"}, file,
                                       "overwrite existing outputs"),
      flag_option<&Options::durable>({"OutputOptions::durable", "--fsync", "fsync"}, file,
                                     "fsync OUT before the program ends"),
      {{{{"OutputOptions::to_8bit", "--to-8bit", "to_8bit"},
         {"OutputOptions::range_of_8bit", "--to-8bit=LOW:HIGH", "to_8bit=(low, high)"}},
        "scale 16-bit and floating pixels to u8: from the whole range of the type (floating: 0 to 1), or "
        "from LOW:HIGH; alpha is blended with white if OUT has none",
        set_8bit,
        text,
        "[=LOW:HIGH]"},
       {},
       picture},
      {{{{"OutputOptions::background", "--background", "background"},
         {"OutputOptions::background = white", "--background=white", "background='white'"}},
        "blend a picture with alpha onto this colour (PNG, JPEG, PNM, BMP)",
        set_background,
        text,
        "white|black|grey|R,G,B"},
       {},
       picture}};
  return table;
}

std::string OutputOption::name_of(const OutputField& field) const {
  const std::string own = fmt::format("OutputOptions::{}", field.name);
  return std::ranges::find(names, own, &OptionName::member) != names.end() ? own
                                                                           : std::string(names[0].member);
}

namespace {

/// The field of an option as errors name it, with its value where that matters.
std::string described(const OutputOption& option, const OutputField& field, const Options& request) {
  const std::string name = option.name_of(field);
  if (const auto* choice = std::get_if<std::optional<bool> Options::*>(&field.member))
    return fmt::format("{} = {}", name, *(request.**choice));
  if (std::holds_alternative<std::optional<Compression> Options::*>(field.member))
    return fmt::format("{} {}", name, sepconv::name_of(*request.compression));
  if (std::holds_alternative<std::vector<AxisPositions> Options::*>(field.member))
    return "further axes of " + name;
  return name;
}

}  // namespace

std::vector<std::string> given_options(const OutputOptions& request, const std::vector<OptionScope>& scopes) {
  std::vector<std::string> given;
  OutputOptions asked = request;
  if (asked.pyramid == false) asked.pyramid.reset();  // every output can be without levels
  const auto add = [&](OptionScope scope, std::string name) {
    if (std::ranges::find(scopes, scope) != scopes.end()) given.push_back(std::move(name));
  };
  if (asked.tile && asked.tile->empty()) {
    add(OptionScope::tiff, "strips (OutputOptions::tile of 0)");
    asked.tile.reset();
  }
  for (const OutputOption& option : output_option_table()) {
    for (const OutputField& field : option.fields) {
      const bool is_given =
          std::visit([&](auto member) { return asked.*member != Options{}.*member; }, field.member);
      if (is_given) add(field.scope, described(option, field, asked));
    }
  }
  return given;
}

}  // namespace sepconv
