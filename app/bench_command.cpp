// sepconv bench WHAT: measured rates and the limits of this machine, measured in the same process.
#include <CLI/CLI.hpp>

#include "bench/bench.hpp"
#include "commands.hpp"

namespace sepconv::app {

void add_bench_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("bench", "Measure rates and the limits of this machine.");
  command->require_subcommand(1);
  add_bench_conv(*command, context);
  add_bench_gemm(*command, context);
  add_bench_run(*command, context);
  add_bench_transpose(*command, context);
  command->footer(
      "sepconv bench WHAT --help says more.\n\n"
      "Example:  sepconv bench run --size 2048x2048 --radius 8 --runs 3");
}

}  // namespace sepconv::app
