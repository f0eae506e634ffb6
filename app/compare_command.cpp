// sepconv compare A B: how far two images are from each other. Exit codes as those of cmp: 0 only if they are
// equal within the tolerance, 1 if they differ, 2 for trouble.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "console.hpp"
#include "json_text.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/measure/measure.hpp"
#include "wording.hpp"

namespace sepconv::app {

namespace {

struct CompareRequest {
  std::filesystem::path a, b;
  OpenOptions open_a, open_b;
  RunOptions options;
  Reporting reporting;
  double tolerance = 0;
  bool json = false;
};

void print_text(const Comparison& result, double tolerance) {
  print("{}\n", !result.equal()              ? "different"
                : result.max_difference == 0 ? "equal"
                                             : fmt::format("equal within {}", tolerance));
  print("  {:<20} {} of {}\n", "different elements", result.different, result.elements);
  print("  {:<20} {}\n", "greatest difference", number_text(result.max_difference, 9));
  print("  {:<20} {}\n", "mean difference", number_text(result.mean_difference, 9));
  print("  {:<20} {} dB\n", "PSNR",
        std::isnan(result.psnr_db) ? "nan" : fmt::format("{:.3f}", result.psnr_db));
  if (!result.first) return;
  const auto& first = *result.first;
  print("  {:<20} row {}, column {}, channel {}: {} and {}\n", "first difference", first.row, first.col,
        first.channel, number_text(first.a, 17), number_text(first.b, 17));
}

void print_json(const Comparison& result, double tolerance, const std::vector<std::string>& warnings) {
  // JSON has no infinity: an infinite PSNR or difference is null.
  nlohmann::ordered_json all = {{"equal", result.equal()},
                                {"tolerance", tolerance},
                                {"elements", result.elements},
                                {"different", result.different},
                                {"max_difference", result.max_difference},
                                {"mean_difference", result.mean_difference},
                                {"psnr_db", result.psnr_db},
                                {"warnings", warnings},
                                {"first", nullptr}};
  if (result.first) {
    const auto& first = *result.first;
    all["first"] = {
        {"row", first.row}, {"col", first.col}, {"channel", first.channel}, {"a", first.a}, {"b", first.b}};
  }
  print_lines(json_text(all));
}

/// Images that cannot be compared element by element are different, too.
std::string difference_of_shape(const CompareRequest& request, const ImageSpec& a, const ImageSpec& b) {
  const auto text = [](const ImageSpec& spec) {
    return fmt::format("{} x {} pixels of {} x {}", spec.extent.cols, spec.extent.rows, spec.channels,
                       name_of(spec.type));
  };
  return fmt::format("{} has {} and {} has {}; compare images of the same size, channels and type",
                     request.a.string(), text(a), request.b.string(), text(b));
}

/// What of the files was not compared, or is not what it seems.
std::vector<std::string> warnings_of(const CompareRequest& request, const Reader& a, const Reader& b) {
  std::vector<std::string> warnings;
  for (const std::string& warning : a.layout().warnings)
    warnings.push_back(fmt::format("{}: {}", request.a.string(), warning));
  for (const std::string& warning : b.layout().warnings)
    warnings.push_back(fmt::format("{}: {}", request.b.string(), warning));
  return warnings;
}

int compare(CompareRequest& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  request.options.logger = make_logger(request.reporting);
  const auto a = open_reader(request.a, request.open_a);
  const auto b = open_reader(request.b, request.open_b);
  if (a->spec() != b->spec()) {
    complain(difference_of_shape(request, a->spec(), b->spec()));
    return kDifferent;
  }
  Comparison result;
  {
    ProgressLine line(request.reporting.quiet);
    request.options.progress = line.callback();
    result = compare_images(*a, *b, request.tolerance, request.options);
  }
  const std::vector<std::string> warnings = warnings_of(request, *a, *b);
  if (!request.reporting.quiet) warn(warnings);
  if (request.json) {
    print_json(result, request.tolerance, warnings);
  } else if (!request.reporting.quiet) {
    print_text(result, request.tolerance);
  }
  return result.equal() ? kDone : kDifferent;
}

}  // namespace

void add_compare_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand(
      "compare", "Greatest and mean difference of two images; exit code 0 equal, 1 different, 2 trouble.");
  const auto request = std::make_shared<CompareRequest>();
  add_image_option(*command, "A", request->a, "image file")->required();
  add_image_option(*command, "B", request->b, "image file of the same shape and type")->required();
  command
      ->add_option("--tolerance", request->tolerance, "differences up to this count as equal; 0 by default")
      ->transform(finite_number(0))
      ->type_name("NUMBER");
  add_input_options(*command, request->open_a);
  add_input_options(*command, request->open_b, "-b");
  add_limit_options(*command, request->options);
  command->add_flag("--json", request->json, "as JSON");
  add_reporting_options(*command, request->reporting);
  command->footer(
      "Images of another size, type or number of channels are different, too.\n\nExample:  sepconv compare "
      "out.tif expected.tif --tolerance 1");
  command->callback([&context, request] {
    context.failure = kTrouble;
    context.action = [&context, request] { return compare(*request, context.stop); };
  });
}

}  // namespace sepconv::app
