// The sepconv-bench program: measured rates and the limits of this machine, measured in the same process.
// `sepconv bench` executes it, and it has that name in its texts.
#include <CLI/CLI.hpp>

#include "app/commands.hpp"
#include "app/console.hpp"
#include "app/program.hpp"
#include "bench.hpp"
#include "core/version.hpp"

int main(int argc, char** argv) {
  using namespace sepconv::app;
  reserve_standard_descriptors();
  CLI::App program("Measure rates and the limits of this machine.", "sepconv bench");
  program.set_version_flag("--version", "sepconv-bench " SEPCONV_VERSION_STRING);
  program.footer(
      "sepconv bench WHAT --help says more.\n\n"
      "Example:  sepconv bench run --size 2048x2048 --radius 8 --runs 3");
  return run_program(argc, argv, program, [](CLI::App& bench, Context& context) {
    for (const auto add : {add_bench_conv, add_bench_gemm, add_bench_run, add_bench_transpose})
      add(bench, context);
    for (const auto add : {add_completion_command, add_help_command, add_manual_command}) add(bench, context);
    for (const char* name : {"completion", "help"}) bench.get_subcommand(name)->group("");
  });
}
