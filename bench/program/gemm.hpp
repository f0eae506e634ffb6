// sepconv bench gemm: its request and its results. Internal to bench/program/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "bench.hpp"
#include "bench/gemm/variants.hpp"
#include "bench/gemm/verify.hpp"
#include "core/memory.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::app {

struct GemmBenchRequest {
  std::vector<GemmShape> shapes;  ///< empty: 1024 and 3072 cubed
  std::vector<PixelType> types{PixelType::f32, PixelType::f64};
  std::vector<int> blocks{8, 16, 32};  ///< sides of the zero-copy kernels' blocks
  int runs = 12;
  bool host = true;  ///< also measure the host's variants besides a GPU
  bool json = false;
  RunOptions options;  ///< threads, stop, limit of device memory, and the chosen GPU

  bool on_gpu() const { return !options.devices.empty(); }
  int gpu() const { return options.devices.front(); }
  int threads() const { return threads_of(options); }
};

/// The three products of neural network training.
enum class GemmProduct : std::uint8_t { ab, atb, abt_plus_c };
const char* name_of(GemmProduct product);

struct GemmJob {
  PixelType type = PixelType::f32;
  GemmShape shape{};
  GemmProduct product = GemmProduct::ab;

  bool trans_a() const { return product == GemmProduct::atb; }
  bool trans_b() const { return product == GemmProduct::abt_plus_c; }
  bool adds() const { return product == GemmProduct::abt_plus_c; }
  ImageSpec a() const;  ///< as it is stored, before a transposition
  ImageSpec b() const;
  ImageSpec out() const { return {{shape.m, shape.n}, 1, type}; }
  double flop() const { return 2 * shape.operations(); }  ///< without the addition of C
  /// flop per byte, if each operand is read once and the result is written once.
  double flop_per_byte() const;
  friend bool operator==(const GemmJob&, const GemmJob&) = default;
};
/// All jobs, ordered by shape, type and product.
std::vector<GemmJob> gemm_jobs(const GemmBenchRequest& request);
/// "1024 x 1024 x 1024": m, n and k.
std::string text_of(const GemmShape& shape);

/// Names of the host's variants; speed-ups are over the last two.
inline constexpr const char* kIjkLoops = "loops ijk";
inline constexpr const char* kIkjLoops = "loops ikj";
inline constexpr const char* kOpenBlas = "OpenBLAS";

/// Fill byte; values of these bytes are NaN.
inline constexpr int kPoison = 0xFF;

/// One measured variant.
struct GemmBenchRow {
  GemmJob job;
  std::string name{};
  int threads = 0;  ///< of the host; 0: the GPU
  int block = 0;    ///< side of a zero-copy kernel's blocks; 0: another variant
  /// Computed rows of the result: job.shape.m, or fewer if all would take too long.
  std::int64_t rows = 0;
  int runs = 0;
  TrimmedMean time{};
  /// Time with the transfers of operands and result; only of GPU variants that compute all rows.
  std::optional<TrimmedMean> with_transfers{};
  std::optional<KernelFacts> kernel{};  ///< only of the lab's kernels

  bool whole() const { return rows == job.shape.m; }
};

struct GemmBenchResult {
  std::string device;
  std::string verified_by;
  int threads = 0;                 ///< of the host
  std::vector<GemmBenchRow> rows;  ///< grouped by job
};

double flop_per_second(const GemmBenchRow& row);
/// Speed-up over the same variant on one thread of the host; nullopt if that was not measured. Speed-ups
/// compare rates, so a part can be compared with the whole.
std::optional<double> speed_up_over_one_thread(const GemmBenchResult& result, const GemmBenchRow& row);
/// Likewise over the variant `name` on all threads of the host.
std::optional<double> speed_up_over(const GemmBenchResult& result, const GemmBenchRow& row, const char* name);
/// Likewise with the transfers.
std::optional<double> speed_up_with_transfers(const GemmBenchResult& result, const GemmBenchRow& row,
                                              const char* name);

/// Computes this many of the first rows of the result; returns the seconds.
using SecondsOfRows = std::function<double(std::int64_t rows)>;
/// Finds how many rows, at least `min_rows`, can be computed in about two seconds. Times request.runs runs of
/// them, or three if one takes longer than half a second. Sets row.rows, row.time and row.runs.
void time_rows(const GemmBenchRequest& request, std::int64_t min_rows, const SecondsOfRows& seconds_of_rows,
               GemmBenchRow& row);

/// Operands, result and expected result, in host memory.
class GemmMatrices {
 public:
  /// Fills the operands with noise in [-1, 1). Memory is page-locked if a GPU reads it. Throws OutOfMemory.
  GemmMatrices(const GemmBenchRequest& request, const GemmJob& job, Executor& executor);

  /// Views for the first rows of the result.
  GemmOperands operands(std::int64_t rows) const;
  PixelView out(std::int64_t rows) const;

  /// Computes the expected rows in f64: with cuBLAS, else with OpenBLAS, else with plain loops, which compute
  /// only some rows of a large result. Returns the name of the method.
  std::string expect(const GemmBenchRequest& request, Executor& executor);
  /// Fills the result with NaN, so that unwritten elements are detected.
  void poison() const;
  /// Throws Error that names the variant and the first wrong element.
  void check(const GemmBenchRow& row, Executor& executor) const;

 private:
  GemmJob job_;
  Buffer a_, b_, added_, out_, expected_;
  ExpectedRows rows_;
};

/// The operands for the first `rows` of the result. The buffers have the matrices of the job.
GemmOperands operands_in(const GemmJob& job, const Buffer& a, const Buffer& b, const Buffer& added,
                         std::int64_t rows);

/// Throws OutOfMemory if the buffers do not fit on the GPU or on the host.
void check_gemm_memory(const GemmBenchRequest& request);
/// Measure the variants of the host and of the GPU, after GemmMatrices::expect(). Throw Error if a result is
/// wrong.
void bench_gemm_on_host(const GemmBenchRequest& request, const GemmMatrices& matrices, const GemmJob& job,
                        Executor& all_threads, GemmBenchResult& result);
void bench_gemm_on_gpu(const GemmBenchRequest& request, const GemmMatrices& matrices, const GemmJob& job,
                       Executor& all_threads, GemmBenchResult& result);

void print_gemm_tables(const GemmBenchRequest& request, const GemmBenchResult& result);
void print_gemm_json(const GemmBenchRequest& request, const GemmBenchResult& result);

}  // namespace sepconv::app
