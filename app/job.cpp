#include "job.hpp"

#include <CLI/CLI.hpp>

namespace sepconv::app {

void add_file_options(CLI::App& command, JobRequest& request) {
  add_image_option(command, "IN", request.input, "image to read: " + format_names())->required();
  add_image_option(command, "OUT", request.output, "image to make; its ending says the format")->required();
}

void add_job_settings(CLI::App& command, JobRequest& request) {
  add_input_options(command, request.files.open);
  add_layout_options(command, request.files.output);
  add_device_options(command, request.options);
  add_limit_options(command, request.options);
}

void add_job_options(CLI::App& command, JobRequest& request) {
  add_file_options(command, request);
  command.add_option("STAGE", request.stages, "filters, in this order; none copies")
      ->type_name(kStageTextType);
  add_job_settings(command, request);
  add_region_option(command, request.options);
  add_missing_options(command, request.options.missing);
}

FileJob prepare(const JobRequest& request) {
  return request.plan
             ? plan_file(request.input, request.output, request.chain, *request.plan, request.files)
             : plan_file(request.input, request.output, request.chain, request.options, request.files);
}

TakenFiles files_read_by(const JobRequest& request) {
  TakenFiles read = files_read_by(request.input, request.chain);
  if (!request.plan_file.empty()) read.emplace_back(request.plan_file, "the plan");
  return read;
}

}  // namespace sepconv::app
