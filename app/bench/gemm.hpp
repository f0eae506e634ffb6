// sepconv bench gemm: what is measured, and its results. Internal to app/bench/.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "../device_choice.hpp"
#include "bench.hpp"
#include "bench/gemm/ladder.hpp"
#include "bench/gemm/verify.hpp"
#include "core/memory.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::app {

struct GemmBenchRequest {
  std::vector<GemmShape> shapes;  ///< empty: 1024 and 3072 cubed
  std::vector<PixelType> types{PixelType::f32, PixelType::f64};
  std::vector<int> blocks{8, 16, 32};  ///< sides of the zero-copy kernels' blocks
  int runs = 12;
  bool host = true;  ///< the host's rungs too, besides a GPU
  bool json = false;
  RunOptions options;  ///< threads, stop, ceiling of device memory, and the GPU that was found

  bool on_gpu() const { return !options.devices.empty(); }
  int gpu() const { return options.devices.front(); }
  int threads() const { return threads_of(options); }
};

/// The three products that training a network takes.
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
  double flop() const { return 2 * shape.operations(); }  ///< the addition of C aside
  /// flop per byte that has to move once: operands in, result out.
  double flop_per_byte() const;
  friend bool operator==(const GemmJob&, const GemmJob&) = default;
};
/// Shape by shape, type by type, product by product.
std::vector<GemmJob> gemm_jobs(const GemmBenchRequest& request);
/// "1024 x 1024 x 1024": m, n and k.
std::string text_of(const GemmShape& shape);

/// Names of the host's rungs; speed-ups are over the last two.
inline constexpr const char* kIjkLoops = "loops ijk";
inline constexpr const char* kIkjLoops = "loops ikj";
inline constexpr const char* kOpenBlas = "OpenBLAS";

/// Bytes of this are NaN.
inline constexpr int kPoison = 0xFF;

/// One rung.
struct GemmBenchRow {
  GemmJob job;
  std::string name{};
  int threads = 0;  ///< of the host; 0: the GPU
  int block = 0;    ///< side of a zero-copy kernel's blocks; 0: another rung
  std::int64_t rows =
      0;  ///< of the result that were made: job.shape.m, or fewer where all would take too long
  int runs = 0;
  TrimmedMean time{};
  std::optional<TrimmedMean>
      with_transfers{};  ///< of a GPU's rung: operands to the GPU, result back; for the whole only
  std::optional<KernelFacts> kernel{};  ///< of the ladder's kernels

  bool whole() const { return rows == job.shape.m; }
};

struct GemmBenchResult {
  std::string device;
  std::string verified_by;
  int threads = 0;                 ///< of the host
  std::vector<GemmBenchRow> rows;  ///< job by job
};

double flop_per_second(const GemmBenchRow& row);
/// By rate, so that a part is compared with the whole; nothing where that was not measured. Over the same
/// rung on one thread of the host:
std::optional<double> speed_up_over_one_thread(const GemmBenchResult& result, const GemmBenchRow& row);
/// Over a rung on all threads of the host.
std::optional<double> speed_up_over(const GemmBenchResult& result, const GemmBenchRow& row, const char* name);
/// The same with the transfers.
std::optional<double> speed_up_with_transfers(const GemmBenchResult& result, const GemmBenchRow& row,
                                              const char* name);

/// Seconds of a rung that makes this many of the first rows of the result.
using SecondsOfRows = std::function<double(std::int64_t rows)>;
/// Finds how many rows can be made in about two seconds, from `least` on, and times request.runs runs of
/// them, or three where one takes longer than half a second; into row.rows, row.time and row.runs.
void time_rows(const GemmBenchRequest& request, std::int64_t least, const SecondsOfRows& seconds_of_rows,
               GemmBenchRow& row);

/// Operands, result and what is expected, in memory of the host.
class GemmMatrices {
 public:
  /// Operands are noise in [-1, 1). Page-locked where a GPU will read them. Throws OutOfMemory.
  GemmMatrices(const GemmBenchRequest& request, const GemmJob& job, Executor& executor);

  /// For the first rows of the result.
  GemmOperands operands(std::int64_t rows) const;
  PixelView out(std::int64_t rows) const;

  /// Makes the expected rows in f64: by cuBLAS, else by OpenBLAS, else, and then not all of a large result,
  /// by plain loops. Returns who did.
  std::string expect(const GemmBenchRequest& request, Executor& executor);
  /// Fills the result with NaN, so that elements that nobody writes are seen.
  void poison() const;
  /// Throws Error that names the rung and the first element that is wrong.
  void check(const GemmBenchRow& row, Executor& executor) const;

 private:
  GemmJob job_;
  Buffer a_, b_, added_, out_, expected_;
  ExpectedRows rows_;
};

/// The same operands for the first rows of the result alone.
GemmOperands first_rows(const GemmOperands& operands, std::int64_t rows);

/// Throws OutOfMemory if what will be held does not fit, on the GPU or on the host.
void check_gemm_memory(const GemmBenchRequest& request);
/// The host's and the GPU's rungs of a job whose result is expected. Throw Error when a result is wrong.
void bench_gemm_on_host(const GemmBenchRequest& request, const GemmMatrices& matrices, const GemmJob& job,
                        Executor& all, GemmBenchResult& result);
void bench_gemm_on_gpu(const GemmBenchRequest& request, const GemmMatrices& matrices, const GemmJob& job,
                       Executor& all, GemmBenchResult& result);

void print_gemm_tables(const GemmBenchRequest& request, const GemmBenchResult& result);
void print_gemm_json(const GemmBenchRequest& request, const GemmBenchResult& result);

}  // namespace sepconv::app
