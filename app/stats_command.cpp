// sepconv stats FILE: range, mean, deviation and histogram of every channel, streamed.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "console.hpp"
#include "device_choice.hpp"
#include "json_text.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "sepconv/pipeline/measure/measure.hpp"
#include "wording.hpp"

namespace sepconv::app {

namespace {

struct StatsRequest {
  std::filesystem::path path;
  OpenOptions open;
  RunOptions options;
  Reporting reporting;
  bool json = false;
  bool histogram = false;
};

void print_histogram(const ChannelStats& stats) {
  const auto bins = static_cast<double>(stats.histogram.size());
  const double width = stats.histogram_high / bins - stats.histogram_low / bins;
  for (std::size_t bin = 0; bin < stats.histogram.size(); ++bin) {
    if (stats.histogram[bin] == 0) continue;
    print("  {:>14.6g} {:>14}\n", stats.histogram_low + width * static_cast<double>(bin),
          stats.histogram[bin]);
  }
}

void print_text(const std::vector<ChannelStats>& channels, bool histogram) {
  print("{:>7} {:>14} {:>14} {:>14} {:>14} {:>14} {:>10}\n", "channel", "min", "max", "mean", "deviation",
        "count", "NaN");
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const ChannelStats& stats = channels[i];
    const auto text = [&stats](double value) { return stats.count > 0 ? number_text(value, 8) : "-"; };
    print("{:>7} {:>14} {:>14} {:>14} {:>14} {:>14} {:>10}\n", i, text(stats.min), text(stats.max),
          text(stats.mean), text(stats.deviation), stats.count, stats.nan_count);
  }
  if (!histogram) return;
  for (std::size_t i = 0; i < channels.size(); ++i) {
    print("channel {}, from the value on: number of pixels\n", i);
    print_histogram(channels[i]);
  }
}

void print_json(const std::filesystem::path& path, const ImageSpec& spec,
                const std::vector<ChannelStats>& channels, const std::vector<std::string>& warnings) {
  using nlohmann::ordered_json;
  ordered_json list = ordered_json::array();
  for (const ChannelStats& stats : channels) {
    // Of no value nothing is known. JSON has no infinity and no not-a-number: they are null, too.
    const auto known = [&stats](double value) {
      return stats.count > 0 ? ordered_json(value) : ordered_json();
    };
    list.push_back({{"count", stats.count},
                    {"nan_count", stats.nan_count},
                    {"min", known(stats.min)},
                    {"max", known(stats.max)},
                    {"mean", known(stats.mean)},
                    {"deviation", known(stats.deviation)},
                    {"histogram",
                     {{"low", known(stats.histogram_low)},
                      {"high", known(stats.histogram_high)},
                      {"counts", stats.histogram}}}});
  }
  const ordered_json all = {{"file", path.string()},    {"rows", spec.extent.rows},
                            {"cols", spec.extent.cols}, {"type", name_of(spec.type)},
                            {"warnings", warnings},     {"channels", std::move(list)}};
  print_lines(json_text(all));
}

int measure(StatsRequest& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  request.options.logger = make_logger(request.reporting);
  const auto reader = open_reader(request.path, request.open);
  std::vector<ChannelStats> channels;
  {
    ProgressLine line(request.reporting.quiet);
    request.options.progress = line.callback();
    channels = image_stats(*reader, request.options);
  }
  std::vector<std::string> warnings = reader->layout().warnings;
  if (const auto nodata = nodata_value(reader->metadata()))
    warnings.push_back(
        fmt::format("missing pixels (GDAL's nodata value {}) are counted as if they were values", *nodata));
  if (!request.reporting.quiet) warn(warnings);
  if (request.json) {
    print_json(request.path, reader->spec(), channels, warnings);
  } else {
    print_text(channels, request.histogram);
  }
  return kDone;
}

}  // namespace

void add_stats_command(CLI::App& program, Context& context) {
  CLI::App* command =
      program.add_subcommand("stats", "Minimum, maximum, mean, deviation and histogram of every channel.");
  const auto request = std::make_shared<StatsRequest>();
  add_image_option(*command, "FILE", request->path, "image file")->required();
  add_input_options(*command, request->open);
  add_device_options(*command, request->options);
  add_limit_options(*command, request->options);
  command->add_flag("--json", request->json, "as JSON, histogram included");
  command->add_flag("--histogram", request->histogram, "print the bins that are not empty, too");
  add_reporting_options(*command, request->reporting);
  command->footer("Example:  sepconv stats scan.tif --json");
  command->callback([&context, request] {
    context.action = [&context, request] { return measure(*request, context.stop); };
  });
}

}  // namespace sepconv::app
