// What the commands of `sepconv bench` share.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "../cli11.hpp"
#include "../commands.hpp"
#include "../device_choice.hpp"
#include "core/executor.hpp"
#include "core/image.hpp"
#include "kernels/cuda/runtime.hpp"

namespace sepconv::app {

/// Seconds of several runs.
struct Timing {
  double median = 0, least = 0, greatest = 0;

  /// Half the range between the fastest and the slowest run, as a part of the median.
  double spread() const { return median > 0 ? (greatest - least) / 2 / median : 0; }
};

/// For `runs` calls of `seconds_of_run`, after one that does not count.
Timing time_runs(int runs, const std::function<double()>& seconds_of_run);

/// For the seconds of several runs, the fastest and the slowest left out.
struct TrimmedMean {
  double mean = 0;
  double deviation = 0;  ///< the sample's standard deviation
};
/// For at least three.
TrimmedMean trimmed_mean(std::vector<double> seconds);
/// For `runs` calls. Throws Cancelled before one of them when `stop` is requested.
TrimmedMean time_trimmed(int runs, const std::stop_token& stop,
                         const std::function<double()>& seconds_of_run);

/// Seconds that `work` takes.
double seconds_of(const std::function<void()>& work);

/// Calls piece(first, last) for parts of [0, bytes) that begin with a cache line, one per thread.
void for_each_part(std::int64_t bytes, Executor& executor,
                   const std::function<void(std::int64_t first, std::int64_t last)>& piece);
/// Copies by all threads, a part each: the limit of what moves memory.
void copy_in_parts(const std::byte* from, std::byte* to, std::int64_t bytes, Executor& executor);

/// Seconds of the kernels that a call of enqueue() puts on a stream, by the GPU's own clock.
class KernelClock {
 public:
  /// Calls enqueue() twice: while one round runs that does not count the host enqueues the one that does, so
  /// that no launch is waited for. Returns when both are done.
  double seconds(const Stream& stream, const std::function<void()>& enqueue) const;

 private:
  Event begin_{Event::Timing::on}, end_{Event::Timing::on};
};

/// What a sentence says of a command with a ladder: "bench conv" climbs "its ladder", and measures "the host
/// engine" alone with --device cpu.
struct LadderWords {
  const char* command;
  const char* ladder;
  const char* host;
};
/// The one GPU that a ladder runs on goes into options.devices; none for --device cpu. The ladders' kernels
/// are for GPUs, so with --device auto too a machine without one is no reason to measure something else:
/// throws InvalidArgument there, and for more than one.
void choose_ladder_gpu(RunOptions& options, const LadderWords& words);
/// A bench measures what it is told: --device auto is the first GPU where there is one.
void use_gpu_if_available(RunOptions& options);
/// "cuda:0 NVIDIA H200".
std::string name_of_gpu(int index);

/// --type, a list of some of `names`.
void add_types_option(CLI::App& command, std::vector<PixelType>& types, const std::vector<std::string>& names,
                      const char* help);

void add_bench_conv(CLI::App& bench, Context& context);
void add_bench_gemm(CLI::App& bench, Context& context);
void add_bench_run(CLI::App& bench, Context& context);
void add_bench_transpose(CLI::App& bench, Context& context);

}  // namespace sepconv::app
