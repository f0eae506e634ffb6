// sepconv finish OUT: completes a result whose parts were computed by run --part.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "console.hpp"
#include "core/printable.hpp"
#include "options.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/run/run_file.hpp"
#include "text.hpp"

namespace sepconv::app {

void add_finish_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand(
      "finish", "Complete a result that was begun with run --create-only and made with run --part.");
  struct FinishRequest {
    std::filesystem::path output;
    Verbosity reporting;
  };
  const auto request = std::make_shared<FinishRequest>();
  add_image_option(*command, "OUT", request->output, "image whose parts are made")->required();
  add_reporting_options(*command, request->reporting);
  command->footer(
      examples({"sepconv run scan.tif out.zarr gaussian:sigma=9 --create-only --band-rows 128",
                "for k in 1 2; do sepconv run scan.tif out.zarr gaussian:sigma=9 --part $k/2; done",
                "sepconv finish out.zarr"}));
  command->callback([&context, request] {
    context.action = [&context, request] {
      ExecutionOptions options;
      options.stop = context.stop;
      options.logger = make_logger(request->reporting);
      const RunReport report = finish_file(request->output, options);
      warn(report.plan.warnings);
      if (!request->reporting.quiet)
        write_to_stderr(fmt::format("{} is complete\n", printable(request->output.native())));
      return static_cast<int>(kDone);
    };
  });
}

}  // namespace sepconv::app
