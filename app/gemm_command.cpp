// sepconv gemm A B OUT: products of matrices larger than memory, from file to file.
#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "console.hpp"
#include "core/error.hpp"
#include "job.hpp"
#include "pipeline/gemm/gemm.hpp"
#include "pipeline/job/pyramid_writer.hpp"
#include "progress.hpp"
#include "report_outputs.hpp"
#include "run_facts.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

namespace fs = std::filesystem;

struct GemmRequest {
  fs::path a, b, added, output;
  OpenOptions open_a, open_b, open_added;
  GemmOp op;
  std::optional<double> beta;
  OutputOptions layout;
  RunOptions options;
  SideFileRequest side_files;
  Verbosity reporting;
  bool dry_run = false;
};

struct GemmJob {
  std::unique_ptr<Reader> a, b, added;
  std::unique_ptr<Writer> out;
  RunOptions options;
  GemmPlan plan;
};

/// Sets beta: 1 by default for an added matrix, 0 without one.
void resolve_beta(GemmRequest& request) {
  if (request.added.empty() && request.beta)
    throw InvalidArgument("--beta multiplies the matrix of --c; add --c FILE, or leave --beta out");
  request.op.beta = request.added.empty() ? 0 : request.beta.value_or(1);
}

void plan_with_sink(GemmJob& job, const GemmRequest& request) {
  const ImageSpec spec = gemm_result_spec(request.op, job.a->spec(), job.b->spec());
  const LayoutCandidates layouts = layout_candidates_of(request.output, spec, nullptr, request.layout,
                                                        {.map = std::nullopt, .values = true});
  plan_with_fallback(layouts, [&](const CreateOptions& options) {
    job.out = fill_levels(create_writer(request.output, spec, options));
    job.plan = plan_gemm(request.op, *job.a, *job.b, job.added.get(), *job.out, job.options);
  });
}

PathsInUse files_read_by(const GemmRequest& request) {
  PathsInUse paths = {{request.a, "the matrix A"}, {request.b, "the matrix B"}};
  if (!request.added.empty()) paths.emplace_back(request.added, "the matrix that is added");
  return paths;
}

GemmJob prepare(GemmRequest& request) {
  resolve_beta(request);
  check_not_read(request.output, files_read_by(request));
  GemmJob job;
  job.a = open_reader(request.a, request.open_a);
  job.b = open_reader(request.b, request.open_b);
  if (!request.added.empty()) job.added = open_reader(request.added, request.open_added);
  if (request.options.devices.size() > 1)
    throw InvalidArgument("a product is computed on one device; name one, like --device cuda:0");
  job.options = request.options;
  plan_with_sink(job, request);
  return job;
}

int multiply(GemmRequest& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  request.options.logger = make_logger(request.reporting);
  ReportOutputs side_files(request.side_files, files_read_by(request), request.output,
                           request.layout.overwrite);
  if (side_files.wants_html())
    throw InvalidArgument(
        fmt::format("--report {}: a page is of images; give the report another ending, which makes it text",
                    request.side_files.report.string()));
  if (request.dry_run) {
    const bool overwrite = std::exchange(request.layout.overwrite, true);
    const GemmJob job = prepare(request);
    print_lines(describe(job.plan));
    check_writable(request.output, overwrite);
    return kDone;
  }
  GemmJob job = prepare(request);
  GemmReport report;
  {
    ProgressLine line(request.reporting.quiet);
    job.options.progress = line.callback();
    job.options.retry_smaller_plans = true;
    report = run_gemm(*job.a, *job.b, job.added.get(), *job.out, job.plan, job.options);
  }
  const std::string text = summary(report);
  side_files.write(report.timeline, {.command = command_line()}, text, to_json(report));
  if (request.reporting.quiet || request.side_files.json)
    warn(report.plan.warnings);
  else
    write_to_stderr(text);
  return kDone;
}

void add_operands(CLI::App& command, GemmRequest& request) {
  add_image_option(command, "A", request.a, "matrix of f32 or f64: NPY, raw or TIFF of one channel")
      ->required();
  add_image_option(command, "B", request.b, "matrix of the same type")->required();
  add_image_option(command, "OUT", request.output, "matrix to make; its ending says the format")->required();
  command.add_flag("--trans-a", request.op.trans_a, "use A's transpose");
  command.add_flag("--trans-b", request.op.trans_b, "use B's transpose");
  add_image_option(command, "--c", request.added, "matrix C in OUT = alpha A B + beta C");
  command.add_option("--alpha", request.op.alpha, "1 by default")
      ->transform(finite_number())
      ->type_name("NUMBER");
  command.add_option("--beta", request.beta, "1 by default where a matrix is added")
      ->transform(finite_number())
      ->type_name("NUMBER");
}

}  // namespace

void add_gemm_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("gemm", "Multiply matrices: OUT = alpha A B + beta C.");
  const auto request = std::make_shared<GemmRequest>();
  add_operands(*command, *request);
  CLI::Option* dry_run =
      add_dry_run_option(*command, request->dry_run, "tiles, panels, bytes next to the minimum");
  add_input_options(*command, request->open_a);
  add_input_options(*command, request->open_b, "-b");
  add_input_options(*command, request->open_added, "-c");
  add_layout_options(*command, request->layout);
  add_device_options(*command, request->options);
  add_band_options(*command, request->options);
  add_side_file_options(*command, request->side_files);
  dry_run->excludes(command->get_option("--json"));
  add_reporting_options(*command, request->reporting);
  command->footer(examples({"sepconv gemm a.npy b.npy c.npy --trans-b --max-memory 2G",
                            "sepconv gemm a.npy b.npy d.npy --trans-b --alpha 0.5 --c c.npy --beta -1"}));
  command->callback([&context, request] {
    context.action = [&context, request] { return multiply(*request, context.stop); };
  });
}

}  // namespace sepconv::app
