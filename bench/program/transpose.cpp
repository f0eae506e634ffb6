// sepconv bench transpose: variants of transposition, from one thread to the kernels that sepconv uses.
#include "transpose.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/options.hpp"
#include "app/text.hpp"
#include "core/count_text.hpp"
#include "core/error.hpp"
#include "kernels/device/device_rates.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/simd/targets.hpp"
#include "pipeline/job/option.hpp"
#include "pipeline/job/option_values.hpp"

namespace sepconv::app {

namespace {

std::string text_of_device(const TransposeRequest& request) {
  const std::string host = fmt::format("CPU, {}, {}", count_text(request.threads(), "thread"), simd_target());
  if (!request.on_gpu()) return host;
  const std::string text = name_of_gpu(request.gpu());
  return request.cpu ? fmt::format("{}; {}", text, host) : text;
}

double device_copy_limit(const TransposeRequest& request) {
  // measure_device_limits() allocates 16 times its argument.
  const std::int64_t max_bytes = device_memory_ceiling(request.options.devices, request.options) / 16;
  return measure_device_limits(request.gpu(), std::min(std::int64_t{64} << 20, max_bytes))
      .copy_bytes_per_second;
}

TransposeResult measure(const TransposeRequest& request) {
  TransposeResult result{.device = text_of_device(request), .rows = {}, .copies = {}};
  const double copy_limit = request.on_gpu() ? device_copy_limit(request) : 0;
  const auto bench_jobs = [&](const std::vector<TransposeJob>& jobs) {
    request.on_gpu() ? bench_jobs_on_gpu(request, copy_limit, jobs, result)
                     : bench_jobs_on_host(request, jobs, result);
  };
  for (const PixelType type : request.types) {
    if (request.matrix) bench_jobs({matrix_job(request, type)});
    if (request.permute) bench_jobs(tensor_jobs(request, type));
  }
  return result;
}

int bench_transpose(TransposeRequest& request, std::stop_token stop) {
  if (request.conflicts) {
    print_conflicts(request);
    return kDone;
  }
  request.options.stop = std::move(stop);
  choose_bench_gpu(request.options, {"bench transpose", "its variants", "the host's variants"});
  check_transpose_memory(request);
  const TransposeResult result = measure(request);
  request.json ? print_transpose_json(request, result) : print_transpose_tables(request, result);
  return kDone;
}

template <class Length>
CLI::Option* lengths_option(CLI::App& command, const char* name, std::array<Length, 3>& extent,
                            const char* help) {
  return command
      .add_option_function<std::vector<Length>>(
          name, [&extent](const std::vector<Length>& lengths) { std::ranges::copy(lengths, extent.begin()); },
          help)
      ->delimiter(',')
      ->expected(3)
      ->type_name("A,B,C");
}

void add_size_options(CLI::App& command, TransposeRequest& request) {
  command
      .add_option_function<std::string>(
          "--size",
          [&request](const std::string& text) {
            request.extent = with_option_name("--size", [&] { return parse_extent(text); });
          },
          "columns and rows of the matrix; 8192x8192 by default")
      ->type_name("COLSxROWS");
  lengths_option(command, "--size3", request.tensor,
                 "lengths of the tensor, the last one along rows; 512,512,512 by default")
      ->transform(whole_number(1, std::int64_t{1} << 31));
  command
      .add_option_function<std::vector<std::string>>(
          "--perm",
          [&request](const std::vector<std::string>& texts) {
            request.permutations.clear();
            for (const std::string& text : texts) request.permutations.push_back(parse_permutation(text));
          },
          "permutation of the tensor, with NumPy's meaning; may be given several times; all six by default")
      ->transform(permutation_text())
      ->type_name("A,B,C");
  add_types_option(command, request.types, type_names(), "f32 by default");
  command.add_flag_callback(
      "--no-2d", [&request] { request.matrix = false; }, "leave out the matrix");
  command.add_flag_callback(
      "--no-3d", [&request] { request.permute = false; }, "leave out the tensor");
}

void add_run_options(CLI::App& command, TransposeRequest& request) {
  command
      .add_option("--runs", request.runs,
                  "runs, of which the fastest and the slowest are left out; 12 by default, 3 of what takes "
                  "longer than half a second")
      ->transform(whole_number(3, 1000));
  command.add_flag_callback(
      "--no-cpu", [&request] { request.cpu = false; }, "leave out the host's variants, which take longest");
  add_device_options(command, request.options);
  command.add_option("--threads", request.options.threads, "threads of the host; all processors by default")
      ->transform(whole_number(1, kMaxThreads));
  command.add_flag("--json", request.json, "as JSON");
}

void add_conflict_options(CLI::App& command, TransposeRequest& request) {
  CLI::Option* const conflicts =
      command.add_flag("--conflicts", request.conflicts,
                       "measure nothing: count the bank conflicts of a tile in shared memory, and say which "
                       "padding removes them");
  lengths_option(command, "--tile", request.tile, "with --conflicts: lengths of the tile; 8,8,8 by default")
      ->transform(whole_number(1, 1024))
      ->needs(conflicts);
  add_choices(command.add_option("--element-bytes", request.element_bytes,
                                 "with --conflicts: of the tile; 4 by default"),
              {"1", "2", "4", "8", "16"})
      ->needs(conflicts);
}

}  // namespace

void add_bench_transpose(CLI::App& bench, Context& context) {
  CLI::App* command = bench.add_subcommand("transpose",
                                           "Compare variants of transposition on a GPU: a matrix and the "
                                           "permutations of a tensor, from one thread to sepconv's own "
                                           "kernels.");
  const auto request = std::make_shared<TransposeRequest>();
  add_size_options(*command, *request);
  add_run_options(*command, *request);
  add_conflict_options(*command, *request);
  command->footer(std::string("With --device cpu the host's variants alone.\n\n") +
                  examples({"sepconv bench transpose --size 4096x4096 --no-3d --no-cpu",
                            "sepconv bench transpose --conflicts --tile 1,32,32 --perm 0,2,1"}));
  command->callback([&context, request] {
    context.action = [&context, request] { return bench_transpose(*request, context.stop); };
  });
}

}  // namespace sepconv::app
