// The host's variants of bench gemm: three loops, whose rows are distributed to the threads, and OpenBLAS.
#include <memory>

#include "gemm.hpp"
#include "pipeline/machine/thread_pool.hpp"

namespace sepconv::app {

namespace {

/// Rows per thread in the first, short measurement.
constexpr std::int64_t kRowsPerThread = 4;

/// Numbers of threads to measure: 1, 2, 4, ... and all; for the transposed products only 1 and all.
std::vector<int> thread_counts(const GemmBenchRequest& request, const GemmJob& job) {
  const int max_threads = request.threads();
  std::vector<int> counts;
  for (int threads = 1; threads < max_threads; threads *= 2) {
    if (threads == 1 || job.product == GemmProduct::ab) counts.push_back(threads);
  }
  counts.push_back(max_threads);
  return counts;
}

std::unique_ptr<Executor> executor_of(int threads) {
  if (threads == 1) return std::make_unique<SerialExecutor>();
  return std::make_unique<ThreadPool>(threads);
}

/// Copies an added matrix to the result first, because BLAS adds in place.
void multiply_by_openblas(const GemmOperands& operands, const PixelView& out, int threads) {
  if (operands.added) copy_pixels(*operands.added, out);
  const GemmOp op{.trans_a = operands.trans_a,
                  .trans_b = operands.trans_b,
                  .alpha = 1,
                  .beta = operands.added ? 1.0 : 0.0};
  gemm_host(op, operands.a, operands.b, out, threads);
}

}  // namespace

void bench_gemm_on_host(const GemmBenchRequest& request, const GemmMatrices& matrices, const GemmJob& job,
                        Executor& all_threads, GemmBenchResult& result) {
  const auto measure = [&](const char* name, int threads,
                           const std::function<void(const GemmOperands&, const PixelView&)>& multiply) {
    GemmBenchRow row{.job = job, .name = name, .threads = threads};
    matrices.poison();
    time_rows(
        request, kRowsPerThread * threads,
        [&](std::int64_t rows) {
          return seconds_of([&] { multiply(matrices.operands(rows), matrices.out(rows)); });
        },
        row);
    matrices.check(row, all_threads);
    result.rows.push_back(std::move(row));
  };
  const bool has_library = !gemm_host_library().empty();
  for (const int threads : thread_counts(request, job)) {
    const std::unique_ptr<Executor> executor = executor_of(threads);
    const auto make_loops = [&](GemmLoops order) {
      return [&, order](const GemmOperands& operands, const PixelView& out) {
        gemm_loops(order, operands, out, *executor);
      };
    };
    measure(kIjkLoops, threads, make_loops(GemmLoops::ijk));
    measure(kIkjLoops, threads, make_loops(GemmLoops::ikj));
    if (!has_library) continue;
    measure(kOpenBlas, threads, [&](const GemmOperands& operands, const PixelView& out) {
      multiply_by_openblas(operands, out, threads);
    });
  }
}

}  // namespace sepconv::app
