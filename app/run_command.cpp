// sepconv run IN OUT STAGE...
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "batch.hpp"
#include "console.hpp"
#include "core/error.hpp"
#include "core/memory.hpp"
#include "io/memory_image.hpp"
#include "job.hpp"
#include "pipeline/job/option_names.hpp"
#include "pipeline/run/finish_raster.hpp"
#include "report_outputs.hpp"
#include "resume_options.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

struct RunRequest {
  RunArguments job;
  SideFileRequest side_files;
  Verbosity reporting;
  ResumeOptions resume;
  BatchOptions batch;
  bool whole = false;
  bool dry_run = false;
};

int run_whole(const RunRequest& request, ImageJob& job) {
  std::vector<std::string> warnings = job.plan.warnings;
  const Buffer pixels(job.plan.result().bytes());
  const PixelView result = dense_view(pixels.data(), job.plan.result());
  SerialExecutor executor;
  for (std::int64_t raster = 0; raster < job.count(); ++raster) {
    if (raster > 0) job.advance(raster);
    append_unique(warnings, job.plan.warnings);
    append_unique(warnings, run_whole_image(*job.source, *make_memory_writer(result), job.plan.given,
                                            request.job.options.arithmetic, request.job.options.missing,
                                            &job.sink->layout()));
    job.sink->write(Rect::whole(job.sink->spec().extent), result.crop(job.plan.region), executor);
    finish_raster(*job.sink, request.job.options.stop, [&job] { job.check_unchanged(); });
  }
  job.finish();
  warn(warnings);
  return kDone;
}

/// Reads the plan file into the job; run may not replace this plan by a smaller one. Throws InvalidArgument
/// if typed stages differ from the plan's.
void load_plan(RunArguments& job) {
  check_not_read(job.output, {{job.plan_file, "the plan"}});
  job.plan = parse_plan(read_small_text(job.plan_file, "a plan", "plan --json printed"));
  job.options.retry_smaller_plans = false;
  const std::string typed = Chain::parse(job.stages).text();
  job.chain = Chain::parse(job.plan->stages);
  if (const std::string planned = job.chain.text(); !job.stages.empty() && typed != planned)
    throw InvalidArgument(fmt::format(
        "the plan is for another chain: {} in it and {} now; leave the stages out, or create the plan again",
        shortened(planned), shortened(typed)));
}

int filter(RunRequest& request, Context& context) {
  request.job.options.stop = context.stop;
  request.job.options.logger = make_logger(request.reporting);
  if (request.whole) {
    if (!request.job.options.devices.empty())
      throw InvalidArgument("--reference computes on the CPU; leave out --device, or --reference");
    request.job.options.choose_device = false;
  }
  if (!request.batch.folder.empty()) {
    const auto stages = request.batch.arguments.begin() + static_cast<std::ptrdiff_t>(request.batch.inputs);
    request.job.chain = Chain::parse({stages, request.batch.arguments.end()});
    return run_into_folder(request.batch, request.job, request.side_files.json, request.reporting, context);
  }
  if (request.job.plan_file.empty()) {
    request.job.chain = Chain::parse(request.job.stages);
  } else {
    load_plan(request.job);
  }
  if (request.dry_run) {
    print_plan(request.job, request.side_files.json, [&request] { return prepare(request.job); });
    return kDone;
  }
  ReportOutputs side_files(request.side_files, request.job);
  check_no_terminal(request.job);
  ImageJob job = prepare(request.job, request.resume);
  if (request.resume.create_only) {
    report_checkpoint(job, request.reporting);
    return kDone;
  }
  if (job.checkpoint) context.set_partial_results(describe_saved_work(job, request.job.output));
  return request.whole ? run_whole(request, job) : run_job(job, request.job, side_files, request.reporting);
}

std::vector<CLI::Option*> run_arguments(CLI::App& command) {
  return {command.get_option("IN"), command.get_option("OUT"), command.get_option("STAGE")};
}

/// Options that cannot be given together; and option_names() tells those that a plan fixes.
void add_conflicts(CLI::App& command) {
  static const std::pair<const char*, std::vector<const char*>> conflicts[] = {
      {"--output-dir", {"--reference", "--trace", "--report", "--stats", "--plan", "--dry-run"}},
      {"--reference", {"--trace", "--report", "--stats", "--json", "--plan", "--dry-run"}},
      {"--dry-run", {"--trace", "--report", "--stats"}},
      {"--create-only", {"--trace", "--report", "--stats", "--json", "--part"}},
      {"--resume", {"--create-only", "--part"}},
      {"--part", {"--discard"}}};
  for (const auto& [option, others] : conflicts) {
    for (const char* other : others) command.get_option(option)->excludes(command.get_option(other));
  }
  for (const char* option : {"--output-dir", "--reference", "--dry-run", "--plan"}) {
    for (const char* resuming : {"--resume", "--discard", "--create-only", "--part"})
      command.get_option(option)->excludes(command.get_option(resuming));
  }
  for (const OptionName& name : option_names()) {
    if (name.fixed_by_plan)
      command.get_option("--plan")->excludes(command.get_option(std::string(name.flag)));
  }
}

}  // namespace

void add_run_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("run", "Filter an image file into another.");
  const auto request = std::make_shared<RunRequest>();
  add_job_options(*command, request->job);
  command->add_flag(
      "--reference", request->whole,
      "use the reference implementation: the whole image in memory, slow, to check results with");
  add_side_file_options(*command, request->side_files);
  add_resume_options(*command, request->resume);
  command
      ->add_option("--plan", request->job.plan_file,
                   "run with this plan, made by plan --json for the same files and layout options")
      ->type_name(kFileType);
  add_dry_run_option(*command, request->dry_run, "bands, slots, bytes");
  add_into_option(*command, request->batch, run_arguments(*command));
  add_conflicts(*command);
  add_reporting_options(*command, request->reporting);
  command->footer(
      stage_list() + "\n" +
      examples(
          {"sepconv run scan.tif out.tif gaussian:sigma=2.5 --max-memory 256M",
           "sepconv run scan.tif edges.png gaussian:sigma=2 sobel:axis=x abs cast:type=u8 --report "
           "edges.html",
           "sepconv run scan.tif part.png unsharp:sigma=3,amount=2 cast:type=u8 --region 256x128+100+50",
           "sepconv run *.tif --output-dir filtered/ gaussian:sigma=2.5",
           "sepconv run scan.tif flat.tif subtract:file=dark.tif cast:type=f32 --pyramid --compress zstd",
           "sepconv run stack.ome.tif volume.zarr gaussian:sigma=2,sigma_z=1",
           "sepconv run scan.tif - gaussian:sigma=2 -q | sepconv run - sharp.npy unsharp:sigma=1,amount=1",
           "sepconv run scan.tif far.tif gaussian:sigma=40 --resume"}));
  command->callback([command, &context, request] {
    for (const CLI::Option* argument : run_arguments(*command))
      request->batch.arguments.insert(request->batch.arguments.end(), argument->results().begin(),
                                      argument->results().end());
    context.action = [&context, request] { return filter(*request, context); };
  });
}

}  // namespace sepconv::app
