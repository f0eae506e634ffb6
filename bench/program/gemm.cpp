// sepconv bench gemm: variants of matrix products, from three loops on the host to the vendors' libraries.
#include "gemm.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>

#include "app/option_values.hpp"
#include "app/text.hpp"
#include "core/count_text.hpp"
#include "core/error.hpp"
#include "pipeline/machine/thread_pool.hpp"

namespace sepconv::app {

namespace {

constexpr std::int64_t kMaxLength = std::int64_t{1} << 20;

/// Parses "M,N,K".
GemmShape parse_shape(const std::string& text) {
  std::int64_t lengths[3] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    const auto [next, error] = std::from_chars(at, end, lengths[i]);
    const bool separated = i < 2 ? next != end && *next == ',' : next == end;
    if (error != std::errc() || !separated || lengths[i] < 1 || lengths[i] > kMaxLength) {
      throw InvalidArgument(
          fmt::format("--size {} is not understood; give rows and columns of the result and the length of "
                      "its sums, from 1 to {}: 1024,2048,512",
                      shortened(text), kMaxLength));
    }
    at = i < 2 ? next + 1 : next;
  }
  return {lengths[0], lengths[1], lengths[2]};
}

/// Chooses the GPU. Without a GPU in the machine, --device auto measures only the host's variants.
void choose_gemm_gpu(GemmBenchRequest& request) {
  if (request.options.choose_device && list_devices().empty()) request.options.choose_device = false;
  choose_bench_gpu(request.options, {"bench gemm", "its variants", "the host's variants"});
  if (!request.host && !request.on_gpu())
    throw InvalidArgument(
        "--no-host leaves nothing to measure without a GPU; leave it out, or choose a GPU with --device");
}

std::string text_of_device(const GemmBenchRequest& request) {
  const std::string library = gemm_host_library();
  const std::string host = fmt::format("CPU, {}, {}", count_text(request.threads(), "thread"),
                                       library.empty() ? "no OpenBLAS" : library);
  if (!request.on_gpu()) return host;
  const std::string device_library = gemm_device_library();
  const std::string gpu = fmt::format("{}, {}", name_of_gpu(request.gpu()),
                                      device_library.empty() ? "no cuBLAS" : device_library);
  return request.host ? fmt::format("{}; {}", gpu, host) : gpu;
}

GemmBenchResult measure(const GemmBenchRequest& request) {
  GemmBenchResult result{
      .device = text_of_device(request), .verified_by = {}, .threads = request.threads(), .rows = {}};
  ThreadPool all_threads(request.threads(), request.options.stop);
  for (const GemmJob& job : gemm_jobs(request)) {
    GemmMatrices matrices(request, job, all_threads);
    result.verified_by = matrices.expect(request, all_threads);
    if (request.host) bench_gemm_on_host(request, matrices, job, all_threads, result);
    if (request.on_gpu()) bench_gemm_on_gpu(request, matrices, job, all_threads, result);
  }
  return result;
}

int bench_gemm(GemmBenchRequest& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  choose_gemm_gpu(request);
  check_gemm_memory(request);
  const GemmBenchResult result = measure(request);
  request.json ? print_gemm_json(request, result) : print_gemm_tables(request, result);
  return kDone;
}

void add_case_options(CLI::App& command, GemmBenchRequest& request) {
  command
      .add_option_function<std::vector<std::string>>(
          "--size",
          [&request](const std::vector<std::string>& texts) {
            request.shapes.clear();
            for (const std::string& text : texts) request.shapes.push_back(parse_shape(text));
          },
          "rows and columns of the result and the length of its sums; may be given several times; "
          "1024,1024,1024 and 3072,3072,3072 by default")
      ->type_name("M,N,K");
  add_types_option(command, request.types, {"f32", "f64"}, "f32 and f64 by default");
  add_choices(
      command.add_option("--block", request.blocks, "sides of the zero-copy kernels' blocks; all by default")
          ->delimiter(','),
      {"8", "16", "32"});
  command.add_flag_callback(
      "--no-host", [&request] { request.host = false; }, "leave out the host's variants, which take longest");
}

void add_run_options(CLI::App& command, GemmBenchRequest& request) {
  command
      .add_option("--runs", request.runs,
                  "runs, of which the fastest and the slowest are left out; 12 by default, 3 of what takes "
                  "longer than half a second")
      ->transform(whole_number(3, 1000));
  add_device_options(command, request.options);
  command.add_option("--threads", request.options.threads, "threads of the host; all processors by default")
      ->transform(whole_number(1, kMaxThreads));
  command.add_flag("--json", request.json, "as JSON");
}

}  // namespace

void add_bench_gemm(CLI::App& bench, Context& context) {
  CLI::App* command = bench.add_subcommand(
      "gemm",
      "Compare variants of matrix products: three loops and OpenBLAS on the host, and on a GPU from one "
      "thread an element to cuBLAS.");
  const auto request = std::make_shared<GemmBenchRequest>();
  add_case_options(*command, *request);
  add_run_options(*command, *request);
  command->footer(std::string("Products are A B, A^T B and A B^T + C. With --device cpu, and without a GPU, "
                              "the host's variants alone.\n\n") +
                  examples({"sepconv bench gemm --size 4096,4096,4096 --type f64 --no-host",
                            "sepconv bench gemm --size 1000,300,77 --device cpu --threads 2"}));
  command->callback([&context, request] {
    context.action = [&context, request] { return bench_gemm(*request, context.stop); };
  });
}

}  // namespace sepconv::app
