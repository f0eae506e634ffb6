// sepconv compare A B: how far two images are from each other. Exit code 0 only if they are equal within the
// tolerance.
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "options.hpp"
#include "progress.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/pipeline/measure.hpp"
#include "wording.hpp"

namespace sepconv::app {

namespace {

struct Request {
  std::filesystem::path a, b;
  OpenOptions open_a, open_b;
  RunOptions options;
  Reporting reporting;
  double tolerance = 0;
  bool json = false;
};

void print_text(const Comparison& result, double tolerance) {
  fmt::print("{}\n", !result.equal()              ? "different"
                     : result.max_difference == 0 ? "equal"
                                                  : fmt::format("equal within {}", tolerance));
  fmt::print("  {:<20} {} of {}\n", "different elements", result.different, result.elements);
  fmt::print("  {:<20} {}\n", "greatest difference", number_text(result.max_difference, 9));
  fmt::print("  {:<20} {}\n", "mean difference", number_text(result.mean_difference, 9));
  fmt::print("  {:<20} {} dB\n", "PSNR",
             std::isnan(result.psnr_db) ? "nan" : fmt::format("{:.3f}", result.psnr_db));
  if (!result.first) return;
  const auto& first = *result.first;
  fmt::print("  {:<20} row {}, column {}, channel {}: {} and {}\n", "first difference", first.row, first.col,
             first.channel, number_text(first.a, 17), number_text(first.b, 17));
}

void print_json(const Comparison& result, double tolerance) {
  // JSON has no infinity: an infinite PSNR or difference is null.
  nlohmann::ordered_json all = {{"equal", result.equal()},
                                {"tolerance", tolerance},
                                {"elements", result.elements},
                                {"different", result.different},
                                {"max_difference", result.max_difference},
                                {"mean_difference", result.mean_difference},
                                {"psnr_db", result.psnr_db},
                                {"first", nullptr}};
  if (result.first) {
    const auto& first = *result.first;
    all["first"] = {
        {"row", first.row}, {"col", first.col}, {"channel", first.channel}, {"a", first.a}, {"b", first.b}};
  }
  fmt::print("{}\n", all.dump(2));
}

/// Images that cannot be compared are different: exit code 1, as for any other difference, with the reason on
/// stderr.
void check_comparable(const Request& request, const ImageSpec& a, const ImageSpec& b) {
  if (a == b) return;
  const auto text = [](const ImageSpec& spec) {
    return fmt::format("{} x {} pixels of {} x {}", spec.extent.cols, spec.extent.rows, spec.channels,
                       name_of(spec.type));
  };
  throw Error(fmt::format("{} has {} and {} has {}; compare images of the same size, channels and type",
                          request.a.string(), text(a), request.b.string(), text(b)));
}

double checked_tolerance(double value) {
  if (std::isfinite(value) && value >= 0) return value;
  throw InvalidArgument(
      fmt::format("--tolerance {} is no tolerance; give a number of at least 0", number_text(value, 9)));
}

int compare(Request& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  request.options.logger = make_logger(request.reporting);
  const auto a = open_reader(request.a, request.open_a);
  const auto b = open_reader(request.b, request.open_b);
  check_comparable(request, a->spec(), b->spec());
  Comparison result;
  {
    ProgressLine line(request.reporting.quiet);
    request.options.progress = line.callback();
    result = compare_images(*a, *b, request.tolerance, request.options);
  }
  if (request.json) {
    print_json(result, request.tolerance);
  } else if (!request.reporting.quiet) {
    print_text(result, request.tolerance);
  }
  return result.equal() ? kDone : kFailed;
}

}  // namespace

void add_compare_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand(
      "compare", "Greatest and mean difference of two images; exit code 0 if equal, 1 if not.");
  const auto request = std::make_shared<Request>();
  command->add_option("A", request->a, "image file")->required()->type_name("FILE");
  command->add_option("B", request->b, "image file of the same shape and type")
      ->required()
      ->type_name("FILE");
  command
      ->add_option_function<double>(
          "--tolerance", [request](double value) { request->tolerance = checked_tolerance(value); },
          "differences up to this count as equal; 0 by default")
      ->type_name("NUMBER");
  add_input_options(*command, request->open_a);
  add_input_options(*command, request->open_b, "-b");
  add_limit_options(*command, request->options);
  command->add_flag("--json", request->json, "as JSON");
  add_reporting_options(*command, request->reporting);
  command->footer("Example:  sepconv compare out.tif expected.tif --tolerance 1");
  command->callback([&context, request] {
    context.action = [&context, request] { return compare(*request, context.stop); };
  });
}

}  // namespace sepconv::app
