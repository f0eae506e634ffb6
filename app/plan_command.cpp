// sepconv plan IN OUT STAGE...: prints what run would do, without running it.
#include <CLI/CLI.hpp>
#include <memory>

#include "job.hpp"
#include "resume_options.hpp"
#include "text.hpp"

namespace sepconv::app {

void add_plan_command(CLI::App& program, Context& context) {
  struct PlanRequest {
    RunArguments job;
    bool json = false;
    std::int64_t parts = 0;
  };
  CLI::App* command = program.add_subcommand(
      "plan",
      "Show how run would process an image, without running: bands, buffers, memory, predicted time.");
  const auto request = std::make_shared<PlanRequest>();
  add_job_options(*command, request->job);
  command->add_flag("--json", request->json, "as JSON");
  command
      ->add_option("--parts", request->parts,
                   "also print the cost of computing the result in this many "
                   "parts")
      ->transform(whole_number(1, kMaxSide))
      ->excludes("--json");
  command->footer(examples({"sepconv plan scan.tif out.tif gaussian:sigma=2.5 --max-memory 256M",
                            "sepconv plan scan.tif out.tif gaussian:sigma=2.5 --json > plan.json; sepconv "
                            "run scan.tif out.tif --plan plan.json",
                            "sepconv plan scan.tif out.zarr gaussian:sigma=40 --band-rows 128 --parts 3"}));
  command->callback([&context, request] {
    context.action = [request] {
      RunArguments& job = request->job;
      job.chain = Chain::parse(job.stages);
      const auto prepare_job = [&] { return request->parts > 0 ? prepare_parts(job) : prepare(job); };
      print_plan(job, request->json, prepare_job, request->parts);
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
