// sepconv bench run: images streamed through run(), compared with copying the same bytes.
#include "runs.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/console.hpp"
#include "app/json_text.hpp"
#include "app/options.hpp"
#include "core/count_text.hpp"
#include "core/error.hpp"
#include "kernels/device/buffer_pool.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/job/option.hpp"
#include "pipeline/job/option_values.hpp"
#include "pipeline/run/chrome_trace.hpp"

namespace sepconv::app {

namespace {

/// Median time with one slot at the same radius, if that was measured; else 0.
double serial_seconds(const RunsResult& result, const RunsRow& row) {
  for (const RunsRow& candidate : result.rows) {
    if (candidate.kind == row.kind && candidate.radius == row.radius && candidate.slots == 1)
      return candidate.time.median;
  }
  return 0;
}

double bytes_per_second(const RunsRequest& request, const RunsRow& row) {
  return static_cast<double>(request.spec.bytes()) / row.time.median;
}
double pixels_per_second(const RunsRequest& request, const RunsRow& row) {
  return static_cast<double>(request.spec.extent.area()) / row.time.median;
}
double limit_fraction(const RunsRow& row) { return row.limit_seconds / row.time.median; }

void print_table(const RunsRequest& request, const RunsResult& result) {
  const ImageSpec& spec = request.spec;
  print("{} x {} {}{}, {:.2f} GB each way, {}\n", spec.extent.cols, spec.extent.rows, name_of(spec.type),
        request.transpose ? ", transposed" : "", static_cast<double>(spec.bytes()) / 1e9, result.device);
  print("limit: {}; times: median of {} after a warm-up, without start-up\n", result.limit,
        count_text(request.runs, "run"));
  print("{:>7} {:>6} {:>5} {:>9} {:>10} {:>8} {:>10} {:>9} {:>10} {:>8} {:>8} {:>8} {:>10}\n", "from",
        "radius", "slots", "band rows", "time ms", "+-", "predicted", "Gpix/s", "GB/s each", "limit", "share",
        "speed-up", "start ms");
  for (const RunsRow& row : result.rows) {
    const double serial = serial_seconds(result, row);
    print(
        "{:>7} {:>6} {:>5} {:>9} {:>10.2f} {:>7.1f}% {:>10.2f} {:>9.2f} {:>10.2f} {:>8.2f} {:>8.3f} {:>8} "
        "{:>10}\n",
        row.kind, row.radius, row.slots, row.band_rows, row.time.median * 1e3, row.time.spread() * 100,
        row.predicted_seconds * 1e3, pixels_per_second(request, row) / 1e9,
        bytes_per_second(request, row) / 1e9, static_cast<double>(spec.bytes()) / row.limit_seconds / 1e9,
        limit_fraction(row), serial > 0 ? fmt::format("{:.2f}", serial / row.time.median) : "-",
        fmt::format("{:.0f}/{:.0f}", row.first_startup_seconds * 1e3, row.startup_seconds * 1e3));
  }
  print(
      "limit in GB/s each way; start-up of the first and of the last run; results checked against the host "
      "engine\n");
}

void print_json(const RunsRequest& request, const RunsResult& result) {
  using nlohmann::ordered_json;
  ordered_json rows = ordered_json::array();
  for (const RunsRow& row : result.rows) {
    const double serial = serial_seconds(result, row);
    rows.push_back(
        {{"from", row.kind},
         {"radius", row.radius},
         {"slots", row.slots},
         {"band_rows", row.band_rows},
         {"median_seconds", row.time.median},
         {"min_seconds", row.time.min},
         {"greatest_seconds", row.time.max},
         {"predicted_seconds", row.predicted_seconds},
         {"pixels_per_second", pixels_per_second(request, row)},
         {"bytes_per_second_each_way", bytes_per_second(request, row)},
         {"limit_seconds", row.limit_seconds},
         {"share_of_limit", limit_fraction(row)},
         {"speed_up_over_one_slot", serial > 0 ? ordered_json(serial / row.time.median) : ordered_json()},
         {"first_startup_seconds", row.first_startup_seconds},
         {"startup_seconds", row.startup_seconds}});
  }
  const ordered_json all = {{"cols", request.spec.extent.cols},
                            {"rows", request.spec.extent.rows},
                            {"type", name_of(request.spec.type)},
                            {"transpose", request.transpose},
                            {"device", result.device},
                            {"limit", result.limit},
                            {"runs", request.runs},
                            {"measured", std::move(rows)}};
  print_lines(json_lines(all));
}

int bench_run(RunsRequest& request, std::stop_token stop) {
  if (request.trace == "-")
    throw InvalidArgument("--trace cannot be standard output, which takes the table; name a file");
  request.options.stop = std::move(stop);
  use_gpu_if_available(request.options);
  const RunsResult result = request.folder.empty() ? bench_memory(request) : bench_files(request);
  request.json ? print_json(request, result) : print_table(request, result);
  return kDone;
}

void add_image_options(CLI::App& command, RunsRequest& request) {
  command
      .add_option_function<std::string>(
          "--size",
          [&request](const std::string& text) {
            request.spec.extent = with_option_name("--size", [&] { return parse_extent(text); });
          },
          "columns and rows; 16384x16384 by default")
      ->type_name("COLSxROWS");
  const auto set_type = [&request](const std::string& text) { request.spec.type = *parse_pixel_type(text); };
  add_choices(command.add_option_function<std::string>("--type", set_type, "f32 by default"), type_names());
  command.add_option("--radius", request.radii, "radii of the Gaussian, 0: none; 2,8,32,80 by default")
      ->delimiter(',')
      ->transform(whole_number(0, 1000))
      ->type_name("LIST");
  command.add_flag("--transpose", request.transpose, "transpose the result as well");
  command
      .add_option("--file", request.folder,
                  "stream from file to file in this folder, BigTIFF and NPY, instead of in memory")
      ->type_name("DIR");
}

void add_run_options(CLI::App& command, RunsRequest& request) {
  command.add_option("--slots", request.slots, "bands in flight; 1,2,3 by default")
      ->delimiter(',')
      ->transform(whole_number(1, kMaxSlots))
      ->type_name("LIST");
  add_device_options(command, request.options);
  add_budget_options(command, request.options);
  command.add_option("--runs", request.runs, "runs of which the median counts; 5 by default")
      ->transform(whole_number(1, 1000));
  command
      .add_option("--trace", request.trace,
                  "timeline of the last run, as Chrome trace JSON; replaces the file")
      ->type_name(kFileType);
  command.add_flag("--json", request.json, "as JSON");
}

}  // namespace

Chain chain_of(const RunsRequest& request, std::int64_t radius) {
  Chain chain;
  if (radius > 0)
    chain.then(
        parse_stage(fmt::format("gaussian:sigma={},radius={}", static_cast<double>(radius) / 3, radius)));
  if (request.transpose) chain.then(parse_stage("transpose"));
  return chain;
}

ImageSpec result_spec(const RunsRequest& request) { return chain_of(request, 0).result_spec(request.spec); }

namespace {

void write_trace(const std::filesystem::path& path, const Timeline& timeline) {
  std::ofstream file(path);
  write_chrome_trace(file, timeline, {.band_numbers_match = true});
  if (!file.flush())
    throw IoError(fmt::format("cannot write {}; give a file in a folder that can be written", path.string()));
}

}  // namespace

RunsRow time_runs(const RunsRequest& request, std::int64_t radius, int slots,
                  const std::function<RunReport(const RunOptions&)>& run_once, std::string& device) {
  // Buffers are reused between runs, as in a program that filters many images.
  BufferPool pinned(pinned_resource()), memory(device_resource());
  RunOptions options = request.options;
  options.slots = slots;
  options.pinned_memory = &pinned, options.device_memory = &memory;
  RunsRow row;
  row.radius = radius, row.slots = slots;
  bool first = true;
  Timeline last;
  row.time = time_runs(request.runs, [&] {
    const RunReport report = run_once(options);
    if (first) row.first_startup_seconds = report.startup_seconds;
    first = false;
    row.startup_seconds = report.startup_seconds;
    row.band_rows = report.plan.band.rows;
    row.predicted_seconds = report.plan.predicted.total - report.plan.predicted.start;
    device = report.device;
    last = report.timeline;
    return report.wall_seconds - report.startup_seconds;
  });
  if (!request.trace.empty()) write_trace(request.trace, last);
  return row;
}

void add_bench_run(CLI::App& bench, Context& context) {
  CLI::App* command = bench.add_subcommand(
      "run", "Run images through a Gaussian, a transpose or both, in memory or from file to file.");
  const auto request = std::make_shared<RunsRequest>();
  add_image_options(*command, *request);
  add_run_options(*command, *request);
  command->footer("Example:  sepconv bench run --size 2048x2048 --radius 2,32 --slots 1,3 --runs 3");
  command->callback([&context, request] {
    context.action = [&context, request] { return bench_run(*request, context.stop); };
  });
}

}  // namespace sepconv::app
