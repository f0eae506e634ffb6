// sepconv run IN OUT STAGE...
#include <fmt/format.h>

#include <memory>

#include "job.hpp"
#include "progress.hpp"
#include "side_files.hpp"

namespace sepconv::app {

namespace {

struct Request {
  JobRequest job;
  SideFileRequest side_files;
  Reporting reporting;
  bool whole = false;
};

int run_streaming(const Request& request, Job& job, SideFiles& side_files) {
  RunReport report;
  {
    ProgressLine line(request.reporting.quiet);
    RunOptions options = request.job.options;
    options.progress = line.callback();
    report = run(*job.source, *job.sink, job.chain, options);
  }
  HostLimits limits;
  if (!request.reporting.quiet || side_files.wants_limits()) {
    limits = measure_host_limits(report.plan.threads, report.plan.arithmetic);
  }
  side_files.write(report, limits);
  if (!request.reporting.quiet) fmt::print(stderr, "{}", summary(report, limits));
  return kDone;
}

int run_job(Request& request, std::stop_token stop) {
  request.job.options.stop = std::move(stop);
  request.job.options.logger = make_logger(request.reporting);
  SideFiles side_files(request.side_files, {request.job.input, request.job.output});
  Job job = prepare(request.job);
  if (!request.whole) return run_streaming(request, job, side_files);
  run_whole_image(*job.source, *job.sink, job.chain, request.job.options.arithmetic);
  return kDone;
}

}  // namespace

void add_run_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("run", "Filter an image file into another.");
  const auto request = std::make_shared<Request>();
  add_job_options(*command, request->job);
  auto* whole = command->add_flag("--whole", request->whole,
                                  "the reference runner: the whole image in memory, slow, to check with");
  add_side_file_options(*command, request->side_files);
  for (const char* name : {"--trace", "--report", "--stats"}) whole->excludes(command->get_option(name));
  add_reporting_options(*command, request->reporting);
  command->footer(stage_list() +
                  "\nExample:  sepconv run scan.tif out.tif gaussian:sigma=2.5 --max-memory 256M");
  command->callback([&context, request] {
    context.action = [&context, request] { return run_job(*request, context.stop); };
  });
}

}  // namespace sepconv::app
