// sepconv bench transpose: what is measured, and its results. Internal to app/bench/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../device_choice.hpp"
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
  bool cpu = true;      ///< the host's rungs too, besides a GPU
  bool matrix = true;   ///< the ladder of the matrix
  bool permute = true;  ///< the ladder of the tensor
  bool json = false;
  RunOptions options;  ///< threads, stop, ceiling of device memory, and the GPU that was found

  bool conflicts = false;  ///< count bank conflicts instead of measuring
  TileExtent tile{8, 8, 8};
  int element_bytes = 4;

  bool on_gpu() const { return !options.devices.empty(); }
  int gpu() const { return options.devices.front(); }
  int threads() const { return threads_of(options); }
  const std::vector<Permutation>& chosen_permutations() const;
};

/// What is transposed: a tensor, or a matrix as a tensor of one plane with permutation 0,2,1.
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
/// Columns x rows as --size has them, or the three axes.
std::string size_text(bool matrix, const TensorExtent& extent);
/// "1,0" or "2,1,0".
std::string permutation_text(const TransposeJob& job);

/// Names of rungs on the host; speed-ups are over the loop on one thread.
inline constexpr const char* kLoop = "loop";
inline constexpr const char* kOurs = "ours";

/// One rung.
struct TransposeRow {
  TransposeJob job;  ///< of which a slow rung does a part: see `part`
  std::string name{};
  int threads = 0;           ///< of the host; 0: the GPU
  bool only_copies = false;  ///< does not transpose
  TensorExtent part{};       ///< what was transposed: job.extent, or the corner that is small enough
  TrimmedMean time{};
  int runs = 0;
  double copy_limit = 0;  ///< bytes read + written per second, of the same device

  bool whole() const { return part == job.extent; }
};

/// The same bytes to the GPU and back, page-locked.
struct TransposeCopies {
  TransposeJob job;
  TrimmedMean upload{}, download{};
};

struct TransposeResult {
  std::string device;
  std::vector<TransposeRow> rows;       ///< job by job
  std::vector<TransposeCopies> copies;  ///< one per job; none on a CPU
};

/// What rates are computed from: every element is read once and written once.
double bytes_per_second(const TransposeRow& row);
double share_of_copy(const TransposeRow& row);
/// Against the host's loop of one thread, by rate: a part is compared with the whole.
std::optional<double> speed_up(const TransposeResult& result, const TransposeRow& row);
/// For a GPU's rung together with both copies, for the whole.
std::optional<double> speed_up_with_copies(const TransposeResult& result, const TransposeRow& row);
/// The row of this job, or null if it was not measured.
const TransposeRow* find_row(const TransposeResult& result, const TransposeJob& job, std::string_view name,
                             int threads);

/// Times of `request.runs` runs, or of 3 where one takes longer than half a second; into row.time and
/// row.runs.
void time_row(const TransposeRequest& request, const std::function<double()>& seconds_of_run,
              TransposeRow& row);

/// Source, result and the result that is expected, in host memory; allocated once for all jobs of as many
/// bytes.
class TransposeHost {
 public:
  /// The source is noise. Page-locked where a GPU will copy. Throws OutOfMemory.
  TransposeHost(const TransposeRequest& request, std::int64_t bytes, Executor& executor);

  /// Makes `expected` by plain loops.
  void expect(const TransposeJob& job, Executor& executor);
  /// Overwrites `to`, so that elements that nobody writes are seen.
  void poison(Executor& executor) const;
  /// Compares `to` with what is expected, or with the source where the rung only copies; of a part, what it
  /// becomes a part of. Throws Error that names the rung and the first element that differs.
  void check(const TransposeRow& row, Executor& executor) const;

  std::byte* from() const noexcept { return from_.data(); }
  std::byte* to() const noexcept { return to_.data(); }

 private:
  Buffer from_, to_, expected_;
};

/// Throws OutOfMemory if what will be held does not fit, on the GPU or on the host, and InvalidArgument for
/// more elements than the ladders count.
void check_transpose_memory(const TransposeRequest& request);
/// The host's rungs of a job whose result is expected: copy, loops and ours, on one thread and on all, or on
/// 1, 2, 4 and so on up to all of them where there is no GPU to measure. Throws Error when a result is wrong.
void bench_on_host(const TransposeRequest& request, const TransposeJob& job, const TransposeHost& host,
                   TransposeResult& result);
/// Jobs of as many bytes on the host alone, and on the GPU with the host next to it. Throws Error when a
/// result is wrong.
void bench_jobs_on_host(const TransposeRequest& request, const std::vector<TransposeJob>& jobs,
                        TransposeResult& result);
void bench_jobs_on_gpu(const TransposeRequest& request, double copy_limit,
                       const std::vector<TransposeJob>& jobs, TransposeResult& result);

/// The table of bank conflicts; measures nothing and needs no GPU.
void print_conflicts(const TransposeRequest& request);
void print_transpose_tables(const TransposeRequest& request, const TransposeResult& result);
void print_transpose_json(const TransposeRequest& request, const TransposeResult& result);

}  // namespace sepconv::app
