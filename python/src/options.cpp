// Parses options by their names in the program.
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "files.hpp"
#include "images.hpp"

namespace sepconv::python {
namespace {

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

void set_region(Settings& settings, nb::handle value) {
  const auto [row, col, rows, cols] =
      nb::cast<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t>>(value);
  settings.run.region = {row, col, rows, cols};
}

void set_arithmetic(Settings& settings, nb::handle value) {
  settings.run.arithmetic = arithmetic_of(nb::cast<std::string>(value));
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
    {"orient", [](Settings& settings, nb::handle value) { settings.files.orient = nb::cast<bool>(value); }},
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

/// Sets an option of output_option_table() from a bool or a text of the program. False: it has no such option.
bool set_output_option(OutputOptions& output, std::string_view name, nb::handle value) {
  for (const OutputOption& option : output_option_table()) {
    if (option.names[0].keyword != name) continue;
    if (option.flag != nullptr) {
      output.*option.flag = nb::cast<bool>(value);
    } else {
      option.parse(output, nb::cast<std::string>(value));
    }
    return true;
  }
  return false;
}

/// Each option of a result: its name, whether it is a bool, and whether it is for pictures.
nb::list output_options_of_results() {
  nb::list all;
  for (const OutputOption& option : output_option_table())
    all.append(nb::make_tuple(text_of(option.names[0].keyword), option.flag != nullptr,
                              option.scope == OptionScope::picture));
  return all;
}

nb::list options_fixed_by_plan() {
  nb::list all;
  for (const OptionName& name : option_names())
    if (name.fixed_by_plan) all.append(text_of(name.keyword));
  return all;
}

nb::dict former_names() {
  nb::dict all;
  for (const FormerName& name : former_option_names())
    if (!name.keyword.empty()) all[text_of(name.keyword)] = text_of(name.current_keyword);
  return all;
}

}  // namespace

Settings settings_of(const nb::dict& options) {
  Settings settings;
  for (const auto& [key, value] : options) {
    const auto name = nb::cast<std::string>(key);
    if (set_output_option(settings.files.output, name, value)) continue;
    const auto option = std::ranges::find(kOptions, name, &Option::name);
    if (option == std::end(kOptions)) throw InvalidArgument("there is no option '" + name + "'");
    option->set(settings, value);
  }
  settings.files.open = open_options(settings.files.open, settings.run.missing);
  if (settings.plan) settings.run.retry_smaller_plans = false;
  return settings;
}

void bind_options(nb::module_& module) {
  module.def("output_options", output_options_of_results);
  module.def("options_fixed_by_plan", options_fixed_by_plan);
  module.def("former_option_names", former_names);
}

}  // namespace sepconv::python
