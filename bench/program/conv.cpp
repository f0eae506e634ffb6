// sepconv bench conv: variants of separable convolution, from the classic lab exercise of one thread per
// pixel to the kernels that run() uses.
#include "conv.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "app/options.hpp"
#include "app/text.hpp"
#include "bench/conv/variants.hpp"
#include "core/count_text.hpp"
#include "core/error.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/simd/targets.hpp"
#include "pipeline/job/option.hpp"
#include "pipeline/job/option_values.hpp"

namespace sepconv::app {

namespace {

constexpr std::int64_t kMaxHostRadius = 1000;
constexpr std::int64_t kMaxChannels = 16;

void bench_host(const ConvRequest& request, ConvResult& result) {
  result.device =
      fmt::format("CPU, {}, {}", count_text(threads_of(request.options), "thread"), simd_target());
  for (const PixelType type : request.types) {
    const HostPair pair(request, {request.extent, request.channels, type}, false);
    for (const std::int64_t radius : request.radii)
      result.rows.push_back(time_host_engine(request, radius, pair.from, pair.to));
  }
}

/// Throws InvalidArgument for requests that only the host engine supports.
void check_gpu_support(const ConvRequest& request) {
  for (const PixelType type : request.types) {
    if (type != PixelType::f32 && type != PixelType::f64)
      throw InvalidArgument(
          fmt::format("the benchmark's kernels take f32 and f64; give --device cpu for {}", name_of(type)));
  }
  if (const std::int64_t max_radius = std::ranges::max(request.radii); max_radius > kMaxVariantRadius)
    throw InvalidArgument(fmt::format("the benchmark's kernels take radii up to {}; give --device cpu for {}",
                                      kMaxVariantRadius, max_radius));
  if (request.channels > 1)
    throw InvalidArgument("the benchmark's kernels take one channel; give --device cpu for --channels");
}

int bench_conv(ConvRequest& request, std::stop_token stop) {
  request.options.stop = std::move(stop);
  choose_bench_gpu(request.options, {"bench conv", "its variants", "the host engine"});
  ConvResult result;
  if (request.options.devices.empty()) {
    bench_host(request, result);
  } else {
    check_gpu_support(request);
    check_memory(request);
    result.device = name_of_gpu(request.gpu());
    bench_variants(request, result);
    if (request.tiled) bench_tiled(request, result);
  }
  request.json ? print_conv_json(request, result) : print_conv_tables(request, result);
  return kDone;
}

void add_image_options(CLI::App& command, ConvRequest& request) {
  const auto extent_option = [&](const char* name, Extent& extent, const char* help) {
    command
        .add_option_function<std::string>(
            name,
            [&extent, name](const std::string& text) {
              extent = with_option_name(name, [&] { return parse_extent(text); });
            },
            help)
        ->type_name("COLSxROWS");
  };
  extent_option("--size", request.extent, "columns and rows of the image on the GPU; 8192x8192 by default");
  command
      .add_option("--radius", request.radii,
                  "radii of the Gaussian, 1 to 80, on the CPU to 1000; 2,4,8,16,32,64,80 by default")
      ->delimiter(',')
      ->transform(whole_number(1, kMaxHostRadius))
      ->type_name("LIST");
  add_types_option(command, request.types, type_names(), "f64,f32 by default; integers on the CPU only");
  command.add_option("--channels", request.channels, "interleaved, on the CPU only; 1 by default")
      ->transform(whole_number(1, kMaxChannels));
  extent_option("--tiled-size", request.tiled_extent,
                "of the image that passes the GPU in bands; 16384x16384 by default");
  command.add_option("--tiled-radius", request.tiled_radius, "of its Gaussian; 32 by default")
      ->transform(whole_number(1, kMaxVariantRadius));
}

void add_run_options(CLI::App& command, ConvRequest& request) {
  command
      .add_option("--runs", request.runs,
                  "runs, of which the fastest and the slowest are left out; 12 by default")
      ->transform(whole_number(3, 1000));
  command.add_flag_callback(
      "--no-cpu", [&request] { request.cpu = false; }, "leave out the host engine, which takes longest");
  command.add_flag_callback(
      "--no-tiled", [&request] { request.tiled = false; },
      "leave out the image in bands, which takes most memory");
  add_device_options(command, request.options);
  command
      .add_option("--threads", request.options.threads,
                  "threads of the host engine; all processors by default")
      ->transform(whole_number(1, kMaxThreads));
  command.add_flag("--json", request.json, "as JSON");
}

}  // namespace

void add_bench_conv(CLI::App& bench, Context& context) {
  CLI::App* command = bench.add_subcommand("conv",
                                           "Compare variants of separable convolution on a GPU: naive, taps "
                                           "in constant memory, shared-memory tile, and sepconv's own.");
  const auto request = std::make_shared<ConvRequest>();
  add_image_options(*command, *request);
  add_run_options(*command, *request);
  command->footer(std::string("With --device cpu the host engine alone, in any type.\n\n") +
                  examples({"sepconv bench conv --size 4096x4096 --radius 2,32 --type f32 --no-cpu",
                            "sepconv bench conv --device cpu --radius 1,2,4,8,16,32,80 --type u8,u16,f32"}));
  command->callback([&context, request] {
    context.action = [&context, request] { return bench_conv(*request, context.stop); };
  });
}

}  // namespace sepconv::app
