// sepconv stats FILE: range, mean, deviation and histogram of every channel, streamed.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "console.hpp"
#include "core/error.hpp"
#include "io/raster_set.hpp"
#include "job.hpp"
#include "json_text.hpp"
#include "options.hpp"
#include "pipeline/job/file_job.hpp"
#include "pipeline/measure/measure.hpp"
#include "pipeline/run/raster_set_progress.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

struct StatsRequest {
  std::filesystem::path path;
  OpenOptions open;
  RunOptions options;
  Verbosity reporting;
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

/// The statistics of one image of a file.
struct RasterStats {
  std::int64_t raster;
  std::vector<ChannelStats> channels;
};

void print_text(const RasterAxes& axes, const RasterStats& image, bool histogram) {
  if (raster_count(axes) > 1) print("{}\n", position_text(axes, image.raster));
  print("{:>7} {:>16} {:>16} {:>16} {:>14} {:>14} {:>10} {:>10}\n", "channel", "min", "max", "mean",
        "deviation", "count", "NaN", "missing");
  for (std::size_t i = 0; i < image.channels.size(); ++i) {
    const ChannelStats& stats = image.channels[i];
    const auto text = [&stats](double value, int digits) {
      return stats.count > 0 ? number_text(value, digits) : "-";
    };
    print("{:>7} {:>16} {:>16} {:>16} {:>14} {:>14} {:>10} {:>10}\n", i, text(stats.min, 12),
          text(stats.max, 12), text(stats.mean, 12), text(stats.deviation, 8), stats.count, stats.nan_count,
          stats.missing_count);
  }
  if (!histogram) return;
  for (std::size_t i = 0; i < image.channels.size(); ++i) {
    print("channel {}, from the value on: number of pixels\n", i);
    print_histogram(image.channels[i]);
  }
}

using nlohmann::ordered_json;

ordered_json channels_json(const std::vector<ChannelStats>& channels) {
  ordered_json list = ordered_json::array();
  for (const ChannelStats& stats : channels) {
    // Without values all statistics are null. Infinity and NaN become null, too, because JSON has no such
    // numbers.
    const auto known = [&stats](double value) {
      return stats.count > 0 ? ordered_json(value) : ordered_json();
    };
    list.push_back(
        {{"count", stats.count},
         {"nan_count", stats.nan_count},
         {"missing_count", stats.missing_count},
         {"min", known(stats.min)},
         {"max", known(stats.max)},
         {"mean", known(stats.mean)},
         {"deviation", known(stats.deviation)},
         {"histogram",
          {{"low", known(stats.histogram_low)},
           {"high", known(stats.histogram_high)},
           {"counts", stats.histogram.empty() ? ordered_json() : ordered_json(stats.histogram)}}}});
  }
  return list;
}

/// A single image has its channels next to its shape. Each of several images has its own channels and its
/// position along the axes.
void print_json(const std::filesystem::path& path, const RasterSet& set, const SampleType& type,
                const std::vector<RasterStats>& images, const std::vector<std::string>& warnings) {
  const ImageSpec& spec = set.spec();
  ordered_json all = {{"file", path.string()},
                      {"rows", spec.extent.rows},
                      {"cols", spec.extent.cols},
                      {"type", name_of(type)},
                      {"warnings", warnings}};
  if (images.size() == 1) {
    all["channels"] = channels_json(images.front().channels);
  } else {
    all["images"] = ordered_json::array();
    for (const auto& [raster, channels] : images)
      all["images"].push_back(
          {{"at", position_json(set.axes(), raster)}, {"channels", channels_json(channels)}});
  }
  print_lines(json_lines(all));
}

/// Whether to compute a histogram. Floating values require a second pass, which a stream does not support.
bool wants_histogram(const StatsRequest& request, const RasterSet& set) {
  const bool is_unsupported = request.path == kStandardStream && is_floating(set.spec().type);
  if (is_unsupported && request.histogram)
    throw InvalidArgument(fmt::format(
        "the histogram of {} needs a second pass, and standard input can be read only once; leave out "
        "--histogram, or name a file",
        name_of(set.spec().type)));
  return !is_unsupported && (request.histogram || request.json);
}

int measure(StatsRequest& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  request.options.logger = make_logger(request.reporting);
  request.open = open_options(request.open, request.options.missing);
  const auto set = open_input(request.path, request.open, request.options.stop);
  const bool histogram = wants_histogram(request, *set);
  std::vector<RasterStats> images;
  std::vector<std::string> warnings;
  SampleType type(set->spec().type);
  {
    ProgressLine line(request.reporting.quiet);
    RasterSetProgress progress(line.callback(), set->count());
    for (std::int64_t raster = 0; raster < set->count(); ++raster) {
      const auto reader = set->raster(raster);
      request.options.progress = progress.next();
      type = reader->layout().stored.value_or(type);
      images.push_back({raster, image_stats(*reader, request.options, histogram)});
      append_unique(warnings, reader->layout().warnings);
      append_unique(warnings, reader->warnings_after_reading());
      if (const auto nodata = nodata_value(reader->metadata()); nodata && request.options.missing.none)
        append_unique(warnings,
                      {fmt::format("missing pixels (the nodata value {}) are counted as if they were values",
                                   *nodata)});
    }
  }
  warn(warnings);
  if (request.json) {
    print_json(request.path, *set, type, images, warnings);
  } else {
    for (const RasterStats& image : images) print_text(set->axes(), image, request.histogram);
  }
  return kDone;
}

}  // namespace

void add_stats_command(CLI::App& program, Context& context) {
  CLI::App* command =
      program.add_subcommand("stats", "Minimum, maximum, mean, deviation and histogram of every channel.");
  const auto request = std::make_shared<StatsRequest>();
  add_input(*command, "FILE", request->path, "image file")->required();
  add_input_options(*command, request->open);
  add_nodata_option(*command, request->options.missing);
  add_limit_options(*command, request->options);
  command->add_flag("--json", request->json, "as JSON, histogram included");
  command->add_flag("--histogram", request->histogram, "print the bins that are not empty, too");
  add_reporting_options(*command, request->reporting);
  command->footer(
      "Floating values in standard input have no histogram, because it needs a second pass.\n\n" +
      examples({"sepconv stats scan.tif --json", "sepconv stats scan.tif --histogram",
                "sepconv run scan.tif - dog:sigma=1,sigma2=3 cast:type=f32 -q | sepconv stats -"}));
  command->callback([&context, request] {
    context.action = [&context, request] { return measure(*request, context.stop); };
  });
}

}  // namespace sepconv::app
