// sepconv compare A B: the differences of two images. Exit codes are those of cmp: 0 if they are equal within
// the tolerance, 1 if they differ, 2 for an error.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
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

struct CompareRequest {
  std::filesystem::path a, b;
  OpenOptions open_a, open_b;
  RunOptions options;
  Verbosity reporting;
  double tolerance = 0;
  bool json = false;
};

/// The comparison of each pair of images in two files, and the total.
struct FileComparison {
  RasterAxes axes;
  std::vector<Comparison> images;
  Comparison total;
  /// Index of the image with the first difference.
  std::int64_t first_image() const {
    const auto found =
        std::ranges::find_if(images, [](const Comparison& image) { return image.first.has_value(); });
    return found - images.begin();
  }
};

void print_text(const FileComparison& compared, double tolerance) {
  const Comparison& result = compared.total;
  print("{}\n", !result.equal()              ? "different"
                : result.max_difference == 0 ? "equal"
                                             : fmt::format("equal within {}", tolerance));
  print("  {:<20} {} of {}\n", "different elements", result.different, result.elements);
  if (result.missing_in_a + result.missing_in_b > 0)
    print("  {:<20} {} elements of A, {} of B: missing, or not a number, and infinitely far from a value\n",
          "missing in one only", result.missing_in_a, result.missing_in_b);
  print("  {:<20} {}\n", "greatest difference", number_text(result.max_difference, 9));
  print("  {:<20} {}\n", "mean difference", number_text(result.mean_difference, 9));
  print("  {:<20} {} dB\n", "PSNR",
        std::isnan(result.psnr_db) ? "nan" : fmt::format("{:.3f}", result.psnr_db));
  if (!result.first) return;
  const auto& first = *result.first;
  const std::string image = position_text(compared.axes, compared.first_image());
  print("  {:<20} {}{}row {}, column {}, channel {}: {} and {}\n", "first difference", image,
        image.empty() ? "" : ", ", first.row, first.col, first.channel, number_text(first.a, 17),
        number_text(first.b, 17));
}

using nlohmann::ordered_json;

/// JSON has no infinity: an infinite PSNR or difference is null.
ordered_json comparison_json(const Comparison& result) {
  ordered_json all = {{"elements", result.elements},
                      {"different", result.different},
                      {"missing_in_a", result.missing_in_a},
                      {"missing_in_b", result.missing_in_b},
                      {"max_difference", result.max_difference},
                      {"mean_difference", result.mean_difference},
                      {"psnr_db", result.psnr_db}};
  return all;
}

ordered_json first_json(const Comparison& result) {
  if (!result.first) return nullptr;
  const auto& first = *result.first;
  return {{"row", first.row}, {"col", first.col}, {"channel", first.channel}, {"a", first.a}, {"b", first.b}};
}

void print_json(const FileComparison& compared, double tolerance, const std::vector<std::string>& warnings) {
  ordered_json all = {{"equal", compared.total.equal()}, {"tolerance", tolerance}};
  all.update(comparison_json(compared.total));
  all["warnings"] = warnings;
  all["first"] = first_json(compared.total);
  if (compared.images.size() > 1) {
    all["images"] = ordered_json::array();
    for (std::size_t i = 0; i < compared.images.size(); ++i) {
      ordered_json entry = {{"at", position_json(compared.axes, static_cast<std::int64_t>(i))},
                            {"equal", compared.images[i].equal()}};
      entry.update(comparison_json(compared.images[i]));
      entry["first"] = first_json(compared.images[i]);
      all["images"].push_back(std::move(entry));
    }
  }
  print_lines(json_lines(all));
}

/// The message for files whose images cannot be compared element by element. They are reported as different.
std::string shape_difference_text(const CompareRequest& request, const RasterSet& a, const RasterSet& b) {
  const auto text = [](const RasterSet& set) {
    const ImageSpec& spec = set.spec();
    const std::string pixels = fmt::format("{} x {} pixels of {} x {}", spec.extent.cols, spec.extent.rows,
                                           spec.channels, name_of(spec.type));
    return set.count() == 1 ? pixels
                            : fmt::format("{} images ({}) of {}", set.count(), to_string(set.axes()), pixels);
  };
  return fmt::format("{} has {} and {} has {}; compare images of the same size, channels and type",
                     request.a.string(), text(a), request.b.string(), text(b));
}

/// Whether the files have the same image shape, type and count, and the same axis lengths if both have
/// several axes.
bool have_same_shape(const RasterSet& a, const RasterSet& b) {
  if (a.spec() != b.spec() || a.count() != b.count()) return false;
  std::vector<std::int64_t> lengths[2];
  for (const RasterAxis& axis : a.axes())
    if (axis.size > 1) lengths[0].push_back(axis.size);
  for (const RasterAxis& axis : b.axes())
    if (axis.size > 1) lengths[1].push_back(axis.size);
  return lengths[0] == lengths[1] || lengths[0].size() <= 1 || lengths[1].size() <= 1;
}

/// Adds the warnings of the file's layout and of reading it.
void add_warnings(const std::filesystem::path& path, const Reader& reader,
                  std::vector<std::string>& warnings) {
  for (const auto& messages : {reader.layout().warnings, reader.warnings_after_reading()})
    for (const std::string& warning : messages)
      append_unique(warnings, {fmt::format("{}: {}", path.string(), warning)});
}

int compare(CompareRequest& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  request.options.logger = make_logger(request.reporting);
  for (OpenOptions* const open : {&request.open_a, &request.open_b})
    *open = open_options(*open, request.options.missing);
  if (request.a == kStandardStream && request.b == kStandardStream)
    throw InvalidArgument("A and B cannot both be standard input; name a file for one of them");
  const auto a = open_input(request.a, request.open_a, request.options.stop);
  const auto b = open_input(request.b, request.open_b, request.options.stop);
  if (!have_same_shape(*a, *b)) {
    print_error(shape_difference_text(request, *a, *b));
    return kDifferent;
  }
  FileComparison compared{a->axes(), {}, {}};
  std::vector<std::string> warnings;
  {
    ProgressLine line(request.reporting.quiet);
    RasterSetProgress progress(line.callback(), a->count());
    for (std::int64_t raster = 0; raster < a->count(); ++raster) {
      const auto image_a = a->raster(raster);
      const auto image_b = b->raster(raster);
      request.options.progress = progress.next();
      compared.images.push_back(compare_images(*image_a, *image_b, request.tolerance, request.options));
      add_warnings(request.a, *image_a, warnings);
      add_warnings(request.b, *image_b, warnings);
    }
  }
  compared.total = total_of(compared.images);
  warn(warnings);
  if (request.json) {
    print_json(compared, request.tolerance, warnings);
  } else if (!request.reporting.quiet) {
    print_text(compared, request.tolerance);
  }
  return compared.total.equal() ? kDone : kDifferent;
}

}  // namespace

void add_compare_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand(
      "compare", "Greatest and mean difference of two images; exit code 0 equal, 1 different, 2 trouble.");
  const auto request = std::make_shared<CompareRequest>();
  add_input(*command, "A", request->a, "image file")->required();
  add_input(*command, "B", request->b, "image file of the same shape and type")->required();
  command
      ->add_option("--tolerance", request->tolerance, "differences up to this count as equal; 0 by default")
      ->transform(finite_number(0))
      ->type_name("NUMBER");
  add_input_options(*command, request->open_a);
  add_input_options(*command, request->open_b, "-b");
  add_nodata_option(*command, request->options.missing);
  add_limit_options(*command, request->options);
  command->add_flag("--json", request->json, "as JSON");
  add_reporting_options(*command, request->reporting);
  command->footer(
      "Images of another size, type or number of channels are different, too.\n\n" +
      examples({"sepconv compare out.tif expected.tif --tolerance 1",
                "sepconv run scan.tif - gaussian:sigma=2 -q | sepconv compare - expected.tif --json"}));
  command->callback([&context, request] {
    context.failure = kError;
    context.action = [&context, request] { return compare(*request, context.stop); };
  });
}

}  // namespace sepconv::app
