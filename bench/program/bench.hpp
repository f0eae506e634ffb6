// Helpers that the commands of `sepconv bench` share.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/cli11.hpp"
#include "app/commands.hpp"
#include "app/options.hpp"
#include "core/executor.hpp"
#include "core/image.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv::app {

/// Seconds of several runs.
struct Timing {
  double median = 0, min = 0, max = 0;

  /// Half the range between the fastest and the slowest run, as a fraction of the median.
  double spread() const { return median > 0 ? (max - min) / 2 / median : 0; }
};

/// Times `runs` calls of `seconds_of_run` after a warm-up call.
Timing time_runs(int runs, const std::function<double()>& seconds_of_run);

/// Mean of the seconds of several runs without the fastest and the slowest.
struct TrimmedMean {
  double mean = 0;
  double deviation = 0;  ///< the sample's standard deviation
};
/// `seconds` contains at least three runs.
TrimmedMean trimmed_mean(std::vector<double> seconds);
/// Times `runs` calls. Throws Cancelled before a call if `stop` is requested.
TrimmedMean time_trimmed(int runs, const std::stop_token& stop,
                         const std::function<double()>& seconds_of_run);

/// A factor for a table; "-" if there is none.
std::string factor_text(const std::optional<double>& factor);
/// The deviation as a share of the mean; "-" for three runs, of which only one remains.
std::string deviation_text(int runs, const TrimmedMean& time);

/// Seconds that `work` takes.
double seconds_of(const std::function<void()>& work);

/// Calls piece(first, last) for parts of [0, bytes) that start at a cache line, one part per thread.
void for_each_part(std::int64_t bytes, Executor& executor,
                   const std::function<void(std::int64_t first, std::int64_t last)>& piece);
/// Copies with all threads, one part each. Its rate is the limit of memory-bound work.
void copy_in_parts(const std::byte* from, std::byte* to, std::int64_t bytes, Executor& executor);

/// Measures the kernels that a call of enqueue() puts on a stream, with CUDA events.
class KernelClock {
 public:
  /// Calls enqueue() twice and measures the second round. The host enqueues it while the first round runs, so
  /// no launch latency is included. Returns after both rounds have completed.
  double seconds(const Stream& stream, const std::function<void()>& enqueue) const;

 private:
  Event begin_{Event::Timing::on}, end_{Event::Timing::on};
};

/// Names for messages: "bench conv" compares "its variants" and measures "the host engine"
/// alone with --device cpu.
struct BenchNames {
  const char* command;
  const char* variants;
  const char* host;
};
/// Stores the GPU to measure in options.devices; none for --device cpu. Throws InvalidArgument for more than
/// one GPU. Also throws if the machine has no GPU, even for --device auto, because the variants are GPU
/// kernels.
void choose_bench_gpu(RunOptions& options, const BenchNames& bench);
/// Resolves --device auto to the first GPU, or to the CPU of a machine without a GPU.
void use_gpu_if_available(RunOptions& options);
/// "cuda:0 NVIDIA H200".
std::string name_of_gpu(int index);

/// Adds --type, a list of some of `names`.
void add_types_option(CLI::App& command, std::vector<PixelType>& types, const std::vector<std::string>& names,
                      const char* help);

void add_bench_conv(CLI::App& bench, Context& context);
void add_bench_gemm(CLI::App& bench, Context& context);
void add_bench_run(CLI::App& bench, Context& context);
void add_bench_transpose(CLI::App& bench, Context& context);

}  // namespace sepconv::app
