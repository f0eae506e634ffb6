// Options by the names of the program's.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "files.hpp"
#include "images.hpp"

namespace sepconv::python {
namespace {

using Sides = std::pair<std::int64_t, std::int64_t>;

struct Option {
  const char* name;
  void (*take)(Settings& settings, nb::handle value);
};

void take_raw(Settings& settings, nb::handle value) {
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

void take_compress(Settings& settings, nb::handle value) {
  const Codec codec = parse_codec(nb::cast<std::string>(value));
  settings.files.output.compression = codec.compression;
  settings.files.output.level = codec.level;
  settings.files.output.chroma = codec.chroma;
}

void take_8bit(Settings& settings, nb::handle value) {
  OutputOptions& output = settings.files.output;
  output.to_8bit = !nb::isinstance<nb::bool_>(value) || nb::cast<bool>(value);
  if (!nb::isinstance<nb::bool_>(value)) output.range_of_8bit = nb::cast<std::pair<double, double>>(value);
}

void take_region(Settings& settings, nb::handle value) {
  const auto [row, col, rows, cols] =
      nb::cast<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>>(value);
  settings.run.region = {row, col, rows, cols};
}

/// Rows and columns, or a text with names of axes.
template <auto sides, auto others>
void parse_block(Settings& settings, nb::handle value) {
  OutputOptions& output = settings.files.output;
  if (!nb::isinstance<nb::str>(value)) {
    const auto [rows, cols] = nb::cast<Sides>(value);
    output.*sides = Extent{rows, cols};
    return;
  }
  BlockShape shape = parse_block_shape(nb::cast<std::string>(value));
  if (shape.sides) output.*sides = shape.sides;
  output.*others = std::move(shape.others);
}

void take_arithmetic(Settings& settings, nb::handle value) {
  settings.run.arithmetic = arithmetic_of(nb::cast<std::string>(value));
}

template <auto member>
void take_output(Settings& settings, nb::handle value) {
  settings.files.output.*member = nb::cast<bool>(value);
}

void take_pyramid(Settings& settings, nb::handle value) {
  OutputOptions& output = settings.files.output;
  output.nearest_levels = nb::isinstance<nb::str>(value);
  output.pyramid = output.nearest_levels || nb::cast<bool>(value);
}

template <auto member>
void take_plan_option(Settings& settings, nb::handle value) {
  auto& option = settings.run.*member;
  option = nb::cast<std::remove_reference_t<decltype(option)>>(value);
}

constexpr Option kOptions[] = {
    {"page", [](Settings& s, nb::handle v) { s.files.open.page = nb::cast<int>(v); }},
    {"select", [](Settings& s, nb::handle v) { s.files.open.select = nb::cast<std::string>(v); }},
    {"level", [](Settings& s, nb::handle v) { s.files.open.level = nb::cast<int>(v); }},
    {"axes", [](Settings& s, nb::handle v) { s.files.open.axes = nb::cast<std::string>(v); }},
    {"raw", take_raw},
    {"missing_chunks",
     [](Settings& s, nb::handle v) {
       s.files.open.missing_chunks =
           nb::cast<std::string>(v) == "error" ? MissingChunks::error : MissingChunks::fill;
     }},
    {"compress", take_compress},
    {"tile", parse_block<&OutputOptions::tile, &OutputOptions::tile_others>},
    {"shard", parse_block<&OutputOptions::shard, &OutputOptions::shard_others>},
    {"zarr", [](Settings& s, nb::handle v) { s.files.output.zarr = nb::cast<int>(v); }},
    {"planar", take_output<&OutputOptions::planar>},
    {"no_predictor", take_output<&OutputOptions::no_predictor>},
    {"pyramid", take_pyramid},
    {"cog", take_output<&OutputOptions::cog>},
    {"bigtiff", take_output<&OutputOptions::big_tiff>},
    {"orient", [](Settings& s, nb::handle v) { s.files.orient = nb::cast<bool>(v); }},
    {"to_8bit", take_8bit},
    {"background",
     [](Settings& s, nb::handle v) {
       s.files.output.background = parse_background(nb::cast<std::string>(v));
     }},
    {"overwrite", take_output<&OutputOptions::overwrite>},
    {"fsync", take_output<&OutputOptions::durable>},
    {"max_memory", take_plan_option<&PlanOptions::max_memory_bytes>},
    {"threads", take_plan_option<&PlanOptions::threads>},
    {"slots", take_plan_option<&PlanOptions::slots>},
    {"band_rows", take_plan_option<&PlanOptions::band_rows>},
    {"band_cols", take_plan_option<&PlanOptions::band_cols>},
    {"arithmetic", take_arithmetic},
    {"choose_device", take_plan_option<&PlanOptions::choose_device>},
    {"devices", take_plan_option<&PlanOptions::devices>},
    {"max_device_memory", take_plan_option<&PlanOptions::max_device_memory_bytes>},
    {"region", take_region},
    {"no_nodata", [](Settings& s, nb::handle v) { s.run.missing.none = nb::cast<bool>(v); }},
    {"nodata", [](Settings& s, nb::handle v) { s.run.missing.value = nb::cast<double>(v); }},
    {"nodata_of_all", [](Settings& s, nb::handle v) { s.run.missing.all_channels = nb::cast<bool>(v); }},
    {"alpha", [](Settings& s,
                 nb::handle v) { s.run.missing.alpha_rule = alpha_rule_named(nb::cast<std::string>(v)); }},
    {"dst_nodata", [](Settings& s, nb::handle v) { s.run.missing.result = nb::cast<double>(v); }},
    {"plan", [](Settings& s, nb::handle v) { s.plan = parse_plan(nb::cast<std::string>(v)); }},
};

}  // namespace

Settings settings_of(const nb::dict& options) {
  Settings settings;
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    const auto option = std::ranges::find(kOptions, name, &Option::name);
    if (option == std::end(kOptions)) throw InvalidArgument("there is no option '" + name + "'");
    option->take(settings, value);
  }
  settings.files.open = open_options(settings.files.open, settings.run.missing);
  if (settings.plan) settings.run.smaller_plans = false;
  return settings;
}

}  // namespace sepconv::python
