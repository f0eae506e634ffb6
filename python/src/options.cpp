// Parses options by their names in the program.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "files.hpp"
#include "images.hpp"

namespace sepconv::python {
namespace {

using RowsCols = std::pair<std::int64_t, std::int64_t>;

struct Option {
  const char* name;
  void (*set)(Settings& settings, nb::handle value);
};

void set_raw(Settings& settings, nb::handle value) {
  const auto [rows, cols, channels, type, big_endian, offset] =
      nb::cast<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::string, bool, std::int64_t>>(value);
  OpenOptions& open = settings.files.open;
  const auto pixels = parse_pixel_type(type);
  if (!pixels)
    throw InvalidArgument("'" + type + "' is not a type of raw pixels; give u8, u16, i16, f32 or f64");
  open.raw = ImageSpec{{rows, cols}, channels, *pixels};
  open.raw_big_endian = big_endian;
  open.raw_offset = offset;
}

void set_compress(Settings& settings, nb::handle value) {
  const Codec codec = parse_codec(nb::cast<std::string>(value));
  settings.files.output.compression = codec.compression;
  settings.files.output.level = codec.level;
  settings.files.output.chroma = codec.chroma;
}

void set_8bit(Settings& settings, nb::handle value) {
  OutputOptions& output = settings.files.output;
  output.to_8bit = !nb::isinstance<nb::bool_>(value) || nb::cast<bool>(value);
  if (!nb::isinstance<nb::bool_>(value)) output.range_of_8bit = nb::cast<std::pair<double, double>>(value);
}

void set_region(Settings& settings, nb::handle value) {
  const auto [row, col, rows, cols] =
      nb::cast<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>>(value);
  settings.run.region = {row, col, rows, cols};
}

/// A block shape: rows and columns, or a text with names of axes.
template <auto sides, auto others>
void set_block(Settings& settings, nb::handle value) {
  OutputOptions& output = settings.files.output;
  if (!nb::isinstance<nb::str>(value)) {
    const auto [rows, cols] = nb::cast<RowsCols>(value);
    output.*sides = Extent{rows, cols};
    return;
  }
  BlockShape shape = parse_block_shape(nb::cast<std::string>(value));
  if (shape.sides) output.*sides = shape.sides;
  output.*others = std::move(shape.others);
}

void set_arithmetic(Settings& settings, nb::handle value) {
  settings.run.arithmetic = arithmetic_of(nb::cast<std::string>(value));
}

template <auto member>
void set_output_flag(Settings& settings, nb::handle value) {
  settings.files.output.*member = nb::cast<bool>(value);
}

void set_pyramid(Settings& settings, nb::handle value) {
  OutputOptions& output = settings.files.output;
  output.nearest_levels = nb::isinstance<nb::str>(value);
  output.pyramid = output.nearest_levels || nb::cast<bool>(value);
}

template <auto member>
void set_plan_option(Settings& settings, nb::handle value) {
  auto& option = settings.run.*member;
  option = nb::cast<std::remove_reference_t<decltype(option)>>(value);
}

constexpr Option kOptions[] = {
    {"page", [](Settings& settings, nb::handle value) { settings.files.open.page = nb::cast<int>(value); }},
    {"select",
     [](Settings& settings, nb::handle value) { settings.files.open.select = nb::cast<std::string>(value); }},
    {"level", [](Settings& settings, nb::handle value) { settings.files.open.level = nb::cast<int>(value); }},
    {"axes",
     [](Settings& settings, nb::handle value) { settings.files.open.axes = nb::cast<std::string>(value); }},
    {"raw", set_raw},
    {"missing_chunks",
     [](Settings& settings, nb::handle value) {
       settings.files.open.missing_chunks =
           nb::cast<std::string>(value) == "error" ? MissingChunks::error : MissingChunks::fill;
     }},
    {"compress", set_compress},
    {"tile", set_block<&OutputOptions::tile, &OutputOptions::tile_others>},
    {"shard", set_block<&OutputOptions::shard, &OutputOptions::shard_others>},
    {"zarr", [](Settings& settings, nb::handle value) { settings.files.output.zarr = nb::cast<int>(value); }},
    {"planar", set_output_flag<&OutputOptions::planar>},
    {"no_predictor", set_output_flag<&OutputOptions::no_predictor>},
    {"pyramid", set_pyramid},
    {"cog", set_output_flag<&OutputOptions::cog>},
    {"bigtiff", set_output_flag<&OutputOptions::big_tiff>},
    {"orient", [](Settings& settings, nb::handle value) { settings.files.orient = nb::cast<bool>(value); }},
    {"to_8bit", set_8bit},
    {"background",
     [](Settings& settings, nb::handle value) {
       settings.files.output.background = parse_background(nb::cast<std::string>(value));
     }},
    {"overwrite", set_output_flag<&OutputOptions::overwrite>},
    {"fsync", set_output_flag<&OutputOptions::durable>},
    {"max_memory", set_plan_option<&PlanOptions::max_memory_bytes>},
    {"threads", set_plan_option<&PlanOptions::threads>},
    {"slots", set_plan_option<&PlanOptions::slots>},
    {"band_rows", set_plan_option<&PlanOptions::band_rows>},
    {"band_cols", set_plan_option<&PlanOptions::band_cols>},
    {"arithmetic", set_arithmetic},
    {"choose_device", set_plan_option<&PlanOptions::choose_device>},
    {"devices", set_plan_option<&PlanOptions::devices>},
    {"max_device_memory", set_plan_option<&PlanOptions::max_device_memory_bytes>},
    {"region", set_region},
    {"no_nodata",
     [](Settings& settings, nb::handle value) { settings.run.missing.none = nb::cast<bool>(value); }},
    {"nodata",
     [](Settings& settings, nb::handle value) { settings.run.missing.value = nb::cast<double>(value); }},
    {"nodata_of_all",
     [](Settings& settings, nb::handle value) { settings.run.missing.all_channels = nb::cast<bool>(value); }},
    {"alpha",
     [](Settings& settings, nb::handle value) {
       settings.run.missing.alpha_rule = alpha_rule_named(nb::cast<std::string>(value));
     }},
    {"dst_nodata",
     [](Settings& settings, nb::handle value) { settings.run.missing.result = nb::cast<double>(value); }},
    {"plan",
     [](Settings& settings, nb::handle value) { settings.plan = parse_plan(nb::cast<std::string>(value)); }},
};

}  // namespace

Settings settings_of(const nb::dict& options) {
  Settings settings;
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    const auto option = std::ranges::find(kOptions, name, &Option::name);
    if (option == std::end(kOptions)) throw InvalidArgument("there is no option '" + name + "'");
    option->set(settings, value);
  }
  settings.files.open = open_options(settings.files.open, settings.run.missing);
  if (settings.plan) settings.run.retry_smaller_plans = false;
  return settings;
}

}  // namespace sepconv::python
