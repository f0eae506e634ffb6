// Running a chain from any reader to any writer.
//
//   auto in = sepconv::open_reader("scan.tif");
//   auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
//   auto out = sepconv::create_writer("out.tif", chain.result_spec(in->spec()), sepconv::output_like(*in,
//   chain)); auto plan = sepconv::plan(*in, *out, chain, {.max_memory_bytes = 256 << 20}); auto report =
//   sepconv::run(*in, *out, plan);
//
// Nothing here prints, exits or keeps state from run to run; any number of runs may go on at once in one
// process.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/plan/plan.hpp"
#include "pipeline/run/band_observer.hpp"
#include "pipeline/run/run_report.hpp"

namespace spdlog {
class logger;
}

namespace sepconv {

struct Progress {
  std::int64_t bands_done = 0;
  std::int64_t bands = 0;
  std::int64_t pixels_done = 0;  ///< of the result, written
  std::int64_t pixels = 0;
  std::int64_t bytes_read = 0;
  std::int64_t bytes_written = 0;
  double seconds = 0;  ///< since the run began
};

/// How a plan is carried out; none of it changes a pixel.
struct ExecutionOptions {
  /// Called after each band that was written, from one thread at a time; must not throw and should return
  /// soon.
  std::function<void(const Progress&)> progress{};
  /// Sees the pixels of a run of a chain, of several images those of the first; outlives the run.
  BandObserver* observer = nullptr;
  /// When a stop is requested the run throws Cancelled within a fraction of a second and leaves no output.
  std::stop_token stop{};
  /// Band buffers and arenas come from here; must be thread-safe and outlive the run. Null: page_resource().
  std::pmr::memory_resource* memory = nullptr;
  /// For a run on GPUs: page-locked band buffers, and memory of the calling thread's current device. A
  /// BufferPool in their place keeps them from run to run. Thread-safe, and outlive the run. Null:
  /// pinned_resource() and device_resource().
  std::pmr::memory_resource* pinned_memory = nullptr;
  std::pmr::memory_resource* device_memory = nullptr;
  /// Plan, retries and warnings are logged here (levels info and debug). Null: nothing is logged.
  std::shared_ptr<spdlog::logger> logger{};
  /// Where the memory that a plan takes cannot be had, and so before anything is read, take plans of half as
  /// much, until one fits; the report has the one that was run. Else that is OutOfMemory.
  bool smaller_plans = false;
  /// For a run of a plan: only these bands, and only what they need is read. The sink is finished by the run
  /// of all bands; one that gets them by several runs, by the caller. They go in ascending order, and so must
  /// the ranges where source or sink goes row by row. Never with smaller plans, which have other bands.
  std::optional<BandRange> bands{};
  /// Else whoever called finishes the sink, also when all bands were run.
  bool finishes = true;
  /// Called with the plan that is run, when its memory is had and before anything is read.
  std::function<void(const Plan&)> started{};
  /// Called after each band of the plan that was written, before the next is, from one thread at a time; what
  /// it throws ends the run. For what has to know what the sink holds.
  std::function<void(const Plan&, std::int64_t band)> written{};
  /// Called before the sink is finished; what it throws ends the run, which leaves no output.
  std::function<void()> finishing{};
  /// For a job with a partial result: seconds from one time that it is brought to the disk to the next, next to
  /// the run; 0: with each record of it, and the run waits. What was not may be made again when the machine
  /// goes down, not when the process does.
  double sync_seconds = 5;
};

/// For what plans and runs in one call.
struct RunOptions : PlanOptions, ExecutionOptions {
  RunOptions(PlanOptions plan = {}, ExecutionOptions execution = {})
      : PlanOptions(std::move(plan)), ExecutionOptions(std::move(execution)) {}
};

/// Streams the plan's chain over the image: reads, computes and writes different bands at the same time,
/// inside the ceiling. Calls sink.finish() at the end, unless options.bands are not all. If anything fails
/// everything stops, every thread ends, and the first cause is thrown: InvalidArgument, OutOfMemory, IoError,
/// Cancelled, or whatever a caller's own reader or writer threw, unchanged. The pixels written do not depend
/// on the plan, and on one device neither do a file's bytes (with several GPUs the compressed blocks of a
/// TIFF may lie in another order). The plan is one for this source and this sink, or for others that look
/// like them.
RunReport run(Reader& source, Writer& sink, const Plan& plan, const ExecutionOptions& options = {});

/// Plans, and runs the plan, or smaller ones where its memory cannot be had.
RunReport run(Reader& source, Writer& sink, const Chain& chain, const RunOptions& options = {});

/// The same by the obvious way: the whole image in memory, one reference stage after another. Ignores plan
/// options except `arithmetic` and `missing`. `as` is the layout of the sink that the result will go to, if
/// that is another. For tests and for checking; memory and time have no bound.
/// Returns what a RunReport's plan would warn of beyond what is planned.
std::vector<std::string> run_whole_image(Reader& source, Writer& sink, const Chain& chain,
                                         std::optional<Arithmetic> arithmetic = std::nullopt,
                                         const MissingOptions& missing = {}, const SinkLayout* as = nullptr);

}  // namespace sepconv
