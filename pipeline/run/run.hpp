// Running a chain from any reader to any writer.
//
//   auto in = sepconv::open_reader("scan.tif");
//   auto chain = sepconv::Chain::parse({"gaussian:sigma=2.5"});
//   auto out = sepconv::create_writer("out.tif", chain.result_spec(in->spec()),
//                                     sepconv::output_like(*in, chain));
//   auto plan = sepconv::plan(*in, *out, chain, {.max_memory_bytes = 256 << 20});
//   auto report = sepconv::run(*in, *out, plan);
//
// These functions do not print, exit or keep state; any number of runs may execute concurrently in a process.
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

#include "pipeline/job/missing_pixels.hpp"
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

/// Options for the execution of a plan. None of them affects pixel values.
struct ExecutionOptions {
  /// Called after each written band, from one thread at a time. Must not throw and should return quickly.
  std::function<void(const Progress&)> progress{};
  /// Receives the pixels of a chain's run, of the first image if there are several. Must outlive the run.
  BandObserver* observer = nullptr;
  /// When a stop is requested, the run throws Cancelled within a fraction of a second and leaves no output.
  std::stop_token stop{};
  /// Allocates band buffers and arenas; must be thread-safe and outlive the run. Null: page_resource().
  std::pmr::memory_resource* memory = nullptr;
  /// For runs on GPUs: allocate page-locked band buffers and memory of the current device. A BufferPool
  /// reuses the buffers in later runs. Must be thread-safe and outlive the run. Null: pinned_resource() and
  /// device_resource().
  std::pmr::memory_resource* pinned_memory = nullptr;
  std::pmr::memory_resource* device_memory = nullptr;
  /// Receives log messages about the plan, retries and warnings (levels info and debug). May be null.
  std::shared_ptr<spdlog::logger> logger{};
  /// If a plan's memory cannot be allocated, retry with plans of half the memory, before anything is read;
  /// the report contains the plan used. False: throw OutOfMemory.
  bool retry_smaller_plans = false;
  /// Run only these bands of a plan, and read only their input. A run of all bands finishes the sink; after
  /// several partial runs the caller finishes it. If source or sink is sequential, the ranges must be in
  /// ascending order. Disables `retry_smaller_plans`, because those have other bands.
  std::optional<BandRange> bands{};
  /// False: the caller finishes the sink, even if all bands were run.
  bool finishes = true;
  /// Called with the plan used, after its memory is allocated and before anything is read.
  std::function<void(const Plan&)> started{};
  /// Called after each written band and before the next is written, from one thread at a time. An exception
  /// ends the run.
  std::function<void(const Plan&, std::int64_t band)> written{};
  /// Called before the sink is finished. An exception ends the run, which leaves no output.
  std::function<void()> finishing{};
  /// For resumable jobs: seconds between background syncs to disk; 0: the run waits for a sync after each
  /// record. Unsynced results may be lost if the machine fails, but not if the process does.
  double sync_seconds = 5;
};

/// Options of functions that plan and run in one call.
struct RunOptions : PlanOptions, ExecutionOptions {
  RunOptions(PlanOptions plan = {}, ExecutionOptions execution = {})
      : PlanOptions(std::move(plan)), ExecutionOptions(std::move(execution)) {}
};

/// Streams the plan's chain over the image: reads, computes and writes different bands concurrently, within
/// the memory limit. Calls sink.finish() at the end, unless options.bands is a part. On failure all threads
/// end, and the first cause is thrown: InvalidArgument, OutOfMemory, IoError, Cancelled, or the exception of
/// a caller's reader or writer. The written pixels do not depend on the plan; with one device neither do a
/// file's bytes (with several devices the order of a TIFF's compressed blocks may differ). The plan must be
/// for this source and sink or for ones with equal specs and blocks.
RunReport run(Reader& source, Writer& sink, const Plan& plan, const ExecutionOptions& options = {});

/// Plans and runs the plan, or smaller plans if its memory cannot be allocated.
RunReport run(Reader& source, Writer& sink, const Chain& chain, const RunOptions& options = {});

/// The same with the whole image in memory, one reference stage after another; for tests. Memory and time are
/// not bounded. `as` is the layout of the final sink if it differs from `sink`'s. Returns the warnings that a
/// run would add to its plan.
std::vector<std::string> run_whole_image(Reader& source, Writer& sink, const Chain& chain,
                                         std::optional<Arithmetic> arithmetic = std::nullopt,
                                         const MissingOptions& missing = {}, const SinkLayout* as = nullptr);

}  // namespace sepconv
