// sepconv bench transpose: its request and its results. Internal to bench/program/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "bench.hpp"
#include "core/memory.hpp"
#include "kernels/transpose/bank_conflicts.hpp"
#include "kernels/transpose/permutation.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::app {

struct TransposeRequest {
  Extent extent{8192, 8192};
  TensorExtent tensor{512, 512, 512};
  std::vector<PixelType> types{PixelType::f32};
  std::vector<Permutation> permutations;  ///< of the tensor; empty: all
  int runs = 12;
  bool cpu = true;      ///< also measure the host's variants besides a GPU
  bool matrix = true;   ///< measure the matrix
  bool permute = true;  ///< measure the tensor
  bool json = false;
  RunOptions options;  ///< threads, stop, limit of device memory, and the chosen GPU

  bool conflicts = false;  ///< count bank conflicts instead of measuring
  TileExtent tile{8, 8, 8};
  int element_bytes = 4;

  bool on_gpu() const { return !options.devices.empty(); }
  int gpu() const { return options.devices.front(); }
  int threads() const { return threads_of(options); }
  const std::vector<Permutation>& chosen_permutations() const;
};

/// One transposition: of a tensor, or of a matrix as a tensor of one plane with permutation 0,2,1.
struct TransposeJob {
  bool matrix = false;
  PixelType type = PixelType::f32;
  TensorExtent extent{};
  Permutation permutation{};

  std::int64_t element_bytes() const { return size_of(type); }
  std::int64_t bytes() const { return extent[0] * extent[1] * extent[2] * element_bytes(); }
};
TransposeJob matrix_job(const TransposeRequest& request, PixelType type);
/// One per chosen permutation.
std::vector<TransposeJob> tensor_jobs(const TransposeRequest& request, PixelType type);
/// "8192 x 8192 f32", "512 x 512 x 512 f32 by 2,1,0".
std::string text_of(const TransposeJob& job);
/// Columns x rows of a matrix, as in --size, or the three lengths.
std::string size_text(bool matrix, const TensorExtent& extent);
/// "1,0" or "2,1,0".
std::string permutation_text(const TransposeJob& job);

/// Names of variants on the host; speed-ups are over the loop on one thread.
inline constexpr const char* kLoop = "loop";
inline constexpr const char* kOurs = "ours";

/// One measured variant.
struct TransposeRow {
  TransposeJob job;  ///< a slow variant transposes only `part` of it
  std::string name{};
  int threads = 0;           ///< of the host; 0: the GPU
  bool only_copies = false;  ///< does not transpose
  TensorExtent part{};       ///< transposed extent: job.extent, or a corner that is small enough
  TrimmedMean time{};
  int runs = 0;
  double copy_limit = 0;  ///< bytes read + written per second, of the same device

  bool whole() const { return part == job.extent; }
};

/// Measured copies of the same bytes to the GPU and back, page-locked.
struct TransposeCopies {
  TransposeJob job;
  TrimmedMean upload{}, download{};
};

struct TransposeResult {
  std::string device;
  std::vector<TransposeRow> rows;       ///< grouped by job
  std::vector<TransposeCopies> copies;  ///< one per job; empty on a CPU
};

/// Rates count one read and one write of every element.
double bytes_per_second(const TransposeRow& row);
double copy_fraction(const TransposeRow& row);
/// Speed-up over the host's loop on one thread; nullopt if that was not measured. Compares rates, so a part
/// can be compared with the whole.
std::optional<double> speed_up(const TransposeResult& result, const TransposeRow& row);
/// Likewise of a GPU variant with both copies; nullopt for a part.
std::optional<double> speed_up_with_copies(const TransposeResult& result, const TransposeRow& row);
/// The row of this job, or null if it was not measured.
const TransposeRow* find_row(const TransposeResult& result, const TransposeJob& job, std::string_view name,
                             int threads);

/// Times request.runs runs, or 3 if one takes longer than half a second. Sets row.time and row.runs.
void time_row(const TransposeRequest& request, const std::function<double()>& seconds_of_run,
              TransposeRow& row);

/// Source, result and expected result in host memory, allocated once for all jobs of the same size in bytes.
class TransposeHost {
 public:
  /// Fills the source with noise. Memory is page-locked if a GPU copies it. Throws OutOfMemory.
  TransposeHost(const TransposeRequest& request, std::int64_t bytes, Executor& executor);

  /// Computes the expected result with plain loops.
  void expect(const TransposeJob& job, Executor& executor);
  /// Overwrites `to`, so that unwritten elements are detected.
  void poison(Executor& executor) const;
  /// Compares `to` with the expected result, or with the source if the variant only copies. Of a part,
  /// compares only the result of that part. Throws Error that names the variant and the first wrong element.
  void check(const TransposeRow& row, Executor& executor) const;

  std::byte* from() const noexcept { return from_.data(); }
  std::byte* to() const noexcept { return to_.data(); }

 private:
  Buffer from_, to_, expected_;
};

/// Throws OutOfMemory if the buffers do not fit on the GPU or on the host, and InvalidArgument for more than
/// kMaxVariantElements elements.
void check_transpose_memory(const TransposeRequest& request);
/// Measures the host's variants of a job after TransposeHost::expect(): a copy on all threads, loops on one
/// and on all threads, and sepconv's kernels. These run on all threads if a GPU is measured, else on 1, 2, 4,
/// ... and all. Throws Error if a result is wrong.
void bench_on_host(const TransposeRequest& request, const TransposeJob& job, const TransposeHost& host,
                   TransposeResult& result);
/// Measure jobs of the same size in bytes: on the host alone, or on the GPU and the host. Throw Error if a
/// result is wrong.
void bench_jobs_on_host(const TransposeRequest& request, const std::vector<TransposeJob>& jobs,
                        TransposeResult& result);
void bench_jobs_on_gpu(const TransposeRequest& request, double copy_limit,
                       const std::vector<TransposeJob>& jobs, TransposeResult& result);

/// Prints the table of bank conflicts. Measures nothing and needs no GPU.
void print_conflicts(const TransposeRequest& request);
void print_transpose_tables(const TransposeRequest& request, const TransposeResult& result);
void print_transpose_json(const TransposeRequest& request, const TransposeResult& result);

}  // namespace sepconv::app
