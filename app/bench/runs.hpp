// sepconv bench run: what is measured, and its results. Internal to app/bench/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "../device_choice.hpp"
#include "bench.hpp"
#include "io/reader.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::app {

struct RunsRequest {
  ImageSpec spec{{16384, 16384}, 1, PixelType::f32};
  std::vector<std::int64_t> radii{2, 8, 32, 80};
  std::vector<int> slots{1, 2, 3};
  bool transpose = false;  ///< after the filter
  int runs = 5;
  std::filesystem::path folder;  ///< file to file in there; empty: memory to memory
  std::filesystem::path trace;   ///< empty: not wanted
  bool json = false;
  RunOptions options;  ///< of every run, but for the slots; with the devices that were found
};

/// One line of the table.
struct RunsRow {
  std::string kind;  ///< "memory", "tif", "npy"
  std::int64_t radius = 0;
  int slots = 0;
  std::int64_t band_rows = 0;
  Timing time;                 ///< of a run, without its start-up
  double startup_seconds = 0;  ///< of the last run
  double first_startup_seconds = 0;
  double predicted_seconds = 0;  ///< by the plan, of the same
  double limit_seconds = 0;      ///< median, of moving the same bytes with nothing done to them
};

struct RunsResult {
  std::string limit;  ///< what limit_seconds is of
  std::string device;
  std::vector<RunsRow> rows;
};

/// Memory to memory, page-locked when a GPU computes. Throws Error when a result is wrong.
RunsResult bench_memory(const RunsRequest& request);
/// Uncompressed BigTIFF to BigTIFF and NPY to NPY in a folder of its own under request.folder, which it
/// removes.
RunsResult bench_files(const RunsRequest& request);

/// A Gaussian of this radius, none for 0, and the transpose if it is asked for.
Chain chain_of(const RunsRequest& request, std::int64_t radius);
/// What it makes of request.spec.
ImageSpec result_spec(const RunsRequest& request);

/// `runs` runs of the chain; `run_once(options)` does one.
RunsRow time_runs(const RunsRequest& request, std::int64_t radius, int slots,
                  const std::function<RunReport(const RunOptions&)>& run_once, std::string& device);

/// Compares strips of full height and of full width and the corners with what the host engine makes of the
/// source there. Both readers take any rectangle. Throws Error, naming the first window that differs.
void check_windows(const Chain& chain, Reader& source, Reader& result);
/// Overwrites these windows, so that pixels that nobody writes are seen.
void poison_windows(const PixelView& result);

}  // namespace sepconv::app
