// The sepconv program.
#include <CLI/CLI.hpp>

#include "bench_program.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "core/version.hpp"
#include "program.hpp"

int main(int argc, char** argv) {
  using namespace sepconv::app;
  reserve_standard_descriptors();
  if (const auto arguments = bench_arguments({argv, argv + argc})) return execute_bench(*arguments);
  CLI::App program("Filters for images that are larger than memory.", "sepconv");
  program.set_version_flag("--version", "sepconv " SEPCONV_VERSION_STRING);
  program.footer(
      "Example:  sepconv run scan.tif out.tif gaussian:sigma=2.5\n\n"
      "sepconv help COMMAND says more about a command, sepconv stages about filters.");
  return run_program(argc, argv, program, [](CLI::App& commands, Context& context) {
    for (const auto add :
         {add_run_command, add_finish_command, add_preview_command, add_report_command, add_plan_command,
          add_transpose_command, add_gemm_command, add_info_command, add_stats_command, add_compare_command,
          add_generate_command, add_devices_command, add_bench_command, add_stages_command,
          add_completion_command, add_help_command, add_manual_command})
      add(commands, context);
  });
}
