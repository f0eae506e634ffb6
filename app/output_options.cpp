#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "console.hpp"
#include "core/error.hpp"
#include "io/file_layout.hpp"
#include "options.hpp"
#include "pipeline/plan/display_range.hpp"

namespace sepconv::app {
namespace {

void parse_compress(const std::string& text, OutputOptions& request) {
  try {
    const Codec codec = parse_codec(shortened(text));  // a longer text is not a codec
    request.compression = codec.compression;
    request.level = codec.level;
    request.chroma = codec.chroma;
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("--compress {}", error.what()));
  }
}

void parse_8bit(const std::string& text, OutputOptions& request) {
  request.to_8bit = true;
  if (text != "auto") request.range_of_8bit = parse_value_range(shortened(text));
}

/// Parses the shape of tiles, chunks or shards: rows and columns into `sides`, further axes into `other_axes`.
void parse_block(const std::string& text, std::optional<Extent>& sides,
                 std::vector<AxisPositions>& other_axes) {
  BlockShape shape = parse_block_shape(text);
  if (shape.sides) sides = shape.sides;
  other_axes = std::move(shape.others);
}

}  // namespace

void add_layout_options(CLI::App& command, OutputOptions& request) {
  command
      .add_option_function<std::string>(
          "--compress", [&request](const std::string& text) { parse_compress(text, request); },
          "codec and level; deflate:1..12 (Zarr, PNG: 1..9), deflate:fast (entropy coding only), "
          "deflate:best, zstd:1..22 (default 1), zstd:fast, jpeg:1..100 (quality, default 90), jpeg:90:444, "
          ":422 or :420 (chroma; default 444 from quality 95 on, else as the input). deflate without a level "
          "picks fast or level 6 per TIFF block, and level 6 in Zarr")
      ->type_name("none|lzw|deflate|deflate:fast|zstd|zstd:fast|jpeg|packbits[:LEVEL]");
  command
      .add_option_function<std::string>(
          "--tile,--chunk",
          [&request](const std::string& text) { parse_block(text, request.tile, request.tile_others); },
          "TIFF tiles or Zarr chunks of N x N or ROWSxCOLS pixels, of Zarr also along other axes: "
          "z=16,512x512; 0 for strips")
      ->type_name("N|ROWSxCOLS|AXIS=N,...");
  command
      .add_option_function<std::string>(
          "--shard",
          [&request](const std::string& text) { parse_block(text, request.shard, request.shard_others); },
          "Zarr shard size, a multiple of the chunk; 0: no sharding, one file per chunk")
      ->type_name("N|ROWSxCOLS|AXIS=N,...");
  add_choices(command.add_option_function<std::string>(
                  "--zarr", [&request](const std::string& text) { request.zarr = text == "2" ? 2 : 3; },
                  "Zarr version, with OME-Zarr 0.4 or 0.5; default: the input's, or 3"),
              {"2", "3"});
  command.add_flag("--planar", request.planar,
                   "store TIFF channels as separate planes (PlanarConfiguration 2)");
  command.add_flag("--no-predictor", request.no_predictor, "disable the horizontal predictor");
  command.add_flag("--pyramid{auto}")
      ->description(
          "write overviews (2x reductions) of a TIFF or OME-Zarr in the same pass; nearest: of single "
          "pixels, for classes; none: no overviews. Default: as the input")
      ->each([&request](const std::string& text) {
        if (text != "auto" && text != "none" && text != "nearest")
          throw InvalidArgument(fmt::format("--pyramid takes nothing, nearest or none, and not '{}'", text));
        request.pyramid = text != "none";
        request.nearest_levels = text == "nearest";
      })
      ->type_name("[=nearest|none]");
  command.add_flag("--cog", request.cog, "write a Cloud Optimized GeoTIFF (tiles and overviews)");
  add_choices(command.add_option_function<std::string>(
                  "--bigtiff",
                  [&request](const std::string& text) {
                    request.big_tiff = text == "auto" ? std::nullopt : std::optional(text == "yes");
                  },
                  "write BigTIFF. no: classic TIFF, up to 4 GiB. auto (default): BigTIFF if it is needed"),
              {"yes", "no", "auto"});
  command.add_flag("--force", request.overwrite, "overwrite existing outputs");
  command.add_flag("--fsync", request.durable, "fsync OUT before the program ends");
}

void add_picture_options(CLI::App& command, FileOptions& files) {
  OutputOptions& request = files.output;
  command.add_flag("--orient", files.orient, "apply the orientation tag of the input (EXIF, TIFF)");
  command.add_flag("--to-8bit{auto}")
      ->description(
          "scale 16-bit and floating pixels to u8: from the whole range of the type (floating: 0 to 1), or from "
          "LOW:HIGH; alpha is blended with white if OUT has none")
      ->each([&request](const std::string& text) { parse_8bit(text, request); })
      ->type_name("[=LOW:HIGH]");
  command
      .add_option_function<std::string>(
          "--background",
          [&request](const std::string& text) { request.background = parse_background(shortened(text)); },
          "blend a picture with alpha onto this colour (PNG, JPEG, PNM, BMP)")
      ->type_name("white|black|grey|R,G,B");
}

}  // namespace sepconv::app
