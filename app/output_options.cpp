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
    const Codec codec = parse_codec(shortened(text));  // what is long is none
    request.compression = codec.compression;
    request.level = codec.level;
    request.chroma = codec.chroma;
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format("--compress {}", error.what()));
  }
}

void take_8bit(const std::string& text, OutputOptions& request) {
  request.to_8bit = true;
  if (text != "auto") request.range_of_8bit = parse_value_range(shortened(text));
}

/// Of tiles, chunks and shards, what the text says.
void parse_block(const std::string& text, std::optional<Extent>& sides, std::vector<AxisPositions>& others) {
  BlockShape shape = parse_block_shape(text);
  if (shape.sides) sides = shape.sides;
  others = std::move(shape.others);
}

}  // namespace

void add_layout_options(CLI::App& command, OutputOptions& request) {
  command
      .add_option_function<std::string>(
          "--compress", [&request](const std::string& text) { parse_compress(text, request); },
          "with a level if wanted: deflate:1..12, deflate:fast, deflate:best, zstd:1..22 (1), zstd:fast, "
          "jpeg:1..100 (quality, 90), jpeg:90:444 and :422, :420 (colours; 444 from 95 on, else as the "
          "input); deflate alone looks at each block of a TIFF, and searches those that a "
          "search makes smaller, and is deflate:6 in a Zarr, where 9 is the highest, as in a PNG, of which "
          "it searches drawings; in a Zarr, which has no predictor, :fast hardly shrinks smooth images")
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
          "Zarr chunks together in files of N x N or ROWSxCOLS pixels, also along other axes, whole chunks "
          "each; 0: a file a chunk")
      ->type_name("N|ROWSxCOLS|AXIS=N,...");
  add_choices(command.add_option_function<std::string>(
                  "--zarr", [&request](const std::string& text) { request.zarr = text == "2" ? 2 : 3; },
                  "version of Zarr, with OME-Zarr 0.4 or 0.5; the input's, or 3, by default"),
              {"2", "3"});
  command.add_flag("--planar", request.planar, "TIFF channels in planes of their own");
  command.add_flag("--no-predictor", request.no_predictor,
                   "compress pixels themselves, not their differences");
  command.add_flag("--pyramid{auto}")
      ->description(
          "TIFF or OME-Zarr with smaller levels, each of half the sides, made in the same pass: of "
          "means, or, with nearest, of single pixels, as classes need them; none: without; "
          "as the input where this is left out")
      ->each([&request](const std::string& text) {
        if (text != "auto" && text != "none" && text != "nearest")
          throw InvalidArgument(fmt::format("--pyramid takes nothing, nearest or none, and not '{}'", text));
        request.pyramid = text != "none";
        request.nearest_levels = text == "nearest";
      })
      ->type_name("[nearest|none]");
  command.add_flag("--cog", request.cog, "Cloud Optimized GeoTIFF: tiles, levels, directories first");
  auto* big = command.add_flag_callback(
      "--big-tiff", [&request] { request.big_tiff = true; }, "BigTIFF whatever the size");
  command
      .add_flag_callback(
          "--classic-tiff", [&request] { request.big_tiff = false; }, "classic TIFF, which ends at 4 GiB")
      ->excludes(big);
  command.add_flag("--force", request.overwrite, "replace OUT and logs that exist");
  command.add_flag("--durable", request.durable, "wait until OUT is on the disk (fsync)");
}

void add_picture_options(CLI::App& command, FileOptions& files) {
  OutputOptions& request = files.output;
  command.add_flag(
      "--orient", files.orient,
      "turn rows and columns as the input's orientation (EXIF, TIFF) says, so that OUT needs none");
  command.add_flag("--to-8bit{auto}")
      ->description(
          "u8 of what has 16 bits or is floating: of all that the type can be, of floating values of 0 to 1, "
          "or of "
          "LOW:HIGH; alpha is laid on white where OUT has none")
      ->each([&request](const std::string& text) { take_8bit(text, request); })
      ->type_name("[LOW:HIGH]");
  command
      .add_option_function<std::string>(
          "--background",
          [&request](const std::string& text) { request.background = parse_background(shortened(text)); },
          "colour that a picture with alpha is laid on in PNG, JPEG, PNM and BMP")
      ->type_name("white|black|grey|R,G,B");
}

}  // namespace sepconv::app
