// sepconv bench run: its request and its results. Internal to bench/program/.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "app/options.hpp"
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
  std::filesystem::path folder;  ///< folder for files; empty: memory to memory
  std::filesystem::path trace;   ///< empty: not wanted
  bool json = false;
  RunOptions options;  ///< of every run, except the slots; with the chosen devices
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
  double predicted_seconds = 0;  ///< by the plan, without start-up
  double limit_seconds = 0;      ///< median time of copying the same bytes
};

struct RunsResult {
  std::string limit;  ///< what limit_seconds measures
  std::string device;
  std::vector<RunsRow> rows;
};

/// Measures runs from memory to memory, page-locked if a GPU computes. Throws Error if a result is wrong.
RunsResult bench_memory(const RunsRequest& request);
/// Measures runs from uncompressed BigTIFF to BigTIFF and from NPY to NPY, in a temporary folder in
/// request.folder. Throws Error if a result is wrong.
RunsResult bench_files(const RunsRequest& request);

/// A Gaussian of this radius (omitted for 0), then the transpose if requested.
Chain chain_of(const RunsRequest& request, std::int64_t radius);
/// The size and type of the result for request.spec.
ImageSpec result_spec(const RunsRequest& request);

/// Times request.runs runs of the chain; `run_once(options)` does one. Sets `device` to the name of the
/// device.
RunsRow time_runs(const RunsRequest& request, std::int64_t radius, int slots,
                  const std::function<RunReport(const RunOptions&)>& run_once, std::string& device);

/// Compares strips of full height and full width and the corners with the result of the host engine. Both
/// readers must support any rectangle. Throws Error that names the first different window.
void check_windows(const Chain& chain, Reader& source, Reader& result);
/// Overwrites these windows, so that unwritten pixels are detected.
void poison_windows(const PixelView& result);

}  // namespace sepconv::app
