// The options for missing pixels.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>

#include "core/error.hpp"
#include "options.hpp"

namespace sepconv::app {
namespace {

/// A pixel value; may be NaN.
double parse_value(const std::string& option, const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty())
    throw InvalidArgument(
        fmt::format("{} {} is not a value; write a number, like -9999, or nan", option, shortened(text)));
  return value;
}

}  // namespace

void add_nodata_option(CLI::App& command, MissingOptions& options) {
  command
      .add_option_function<std::string>(
          "--nodata",
          [&options](const std::string& text) {
            options.none = text == "none";
            if (!options.none) options.value = parse_value("--nodata", text);
          },
          "treat this value as nodata; none: no nodata. Default: what the file declares")
      ->type_name("VALUE|nan|none");
  command
      .add_option_function<std::string>(
          "--nodata-bands",
          [&options](const std::string& text) {
            if (text != "each" && text != "all")
              throw InvalidArgument(fmt::format("--nodata-bands {}: expected each or all", shortened(text)));
            options.all_channels = text == "all";
          },
          "each: a channel with the nodata value is missing. all: a pixel is missing if all its channels "
          "have it (GDAL's UNIFIED_SRC_NODATA)")
      ->type_name("each|all");
}

void add_alpha_option(CLI::App& command, MissingOptions& options) {
  add_choices(
      command.add_option_function<std::string>(
          "--alpha", [&options](const std::string& text) { options.alpha_rule = alpha_rule_named(text); },
          "weight: colours are averaged by alpha. mask: pixels of alpha 0 are missing. Default: weight in "
          "pictures, mask in files with a georeference, a nodata value or a mask"),
      {"weight", "mask"});
}

void add_missing_options(CLI::App& command, MissingOptions& options) {
  add_nodata_option(command, options);
  add_alpha_option(command, options);
  command
      .add_option_function<std::string>(
          "--dst-nodata",
          [&options](const std::string& text) { options.result = parse_value("--dst-nodata", text); },
          "nodata value of the result. Default: the input's")
      ->type_name("VALUE|nan");
}

}  // namespace sepconv::app
