// sepconv transpose IN OUT [--perm A,B,C]: permutations of the axes of images and arrays, from file to file.
#include <CLI/CLI.hpp>
#include <memory>
#include <utility>

#include "job.hpp"
#include "report_outputs.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

struct TransposeRequest {
  RunArguments job;
  std::string permutation = "1,0";
  SideFileRequest side_files;
  Verbosity reporting;
  bool dry_run = false;
};

ImageJob prepare(const TransposeRequest& request) {
  return plan_permutation(request.job.input, request.job.output, parse_permutation(request.permutation),
                          request.job.options, request.job.files);
}

int transpose(TransposeRequest& request, std::stop_token stop) {
  request.job.options.stop = std::move(stop);
  request.job.options.logger = make_logger(request.reporting);
  if (request.dry_run) {
    print_plan(request.job, request.side_files.json, [&request] { return prepare(request); });
    return kDone;
  }
  ReportOutputs side_files(request.side_files, request.job);
  ImageJob job = prepare(request);
  return run_job(job, request.job, side_files, request.reporting);
}

}  // namespace

void add_transpose_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand(
      "transpose", "Permute the axes of an image or of a NumPy array of up to three axes.");
  const auto request = std::make_shared<TransposeRequest>();
  add_image_option(*command, "IN", request->job.input, "array or image to read: " + format_names())
      ->required();
  add_image_option(*command, "OUT", request->job.output, "array or image to make; its ending says the format")
      ->required();
  command
      ->add_option("--perm", request->permutation,
                   "axis k of OUT is axis A[k] of IN, as numpy.transpose; an image has rows, columns, "
                   "channels. 1,0 (default): rows become columns and channels stay; 2,0,1: planes out of "
                   "interleaved channels; 1,2,0: back")
      ->transform(permutation_text())
      ->type_name("A,B[,C]");
  add_dry_run_option(*command, request->dry_run, "bands, slots, bytes");
  add_job_settings(*command, request->job);
  add_side_file_options(*command, request->side_files);
  add_reporting_options(*command, request->reporting);
  command->footer(examples({"sepconv transpose scan.tif turned.tif",
                            "sepconv transpose chw.npy hwc.npy --perm 1,2,0 --max-memory 512M"}));
  command->callback([&context, request] {
    context.action = [&context, request] { return transpose(*request, context.stop); };
  });
}

}  // namespace sepconv::app
