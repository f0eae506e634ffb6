// The results of bench gemm as tables.
#include <fmt/format.h>

#include "app/console.hpp"
#include "core/count_text.hpp"
#include "gemm.hpp"

namespace sepconv::app {

namespace {

std::string name_text(const GemmBenchRow& row) {
  return row.block > 0 ? fmt::format("{}, {} x {}", row.name, row.block, row.block) : row.name;
}

void print_header(const GemmJob& job, bool on_gpu) {
  print("\n{} {}, {}: {:.3g} Gflop, {:.3g} flop per byte\n", text_of(job.shape), name_of(job.type),
        name_of(job.product), job.flop() / 1e9, job.flop_per_byte());
  print("{:<26} {:>7} {:>12} {:>9} {:>5} {:>10} {:>9} {:>9} {:>10}", "variant", "threads", "mean ms",
        "deviation", "runs", "Gflop/s", "x 1", "x ikj", "x OpenBLAS");
  if (on_gpu)
    print(" {:>12} {:>10} {:>9} {:>9} {:>9}", "transfers ms", "x OpenBLAS", "registers", "shared",
          "occupancy");
  print("\n");
}

void print_gpu_columns(const GemmBenchResult& result, const GemmBenchRow& row) {
  print(" {:>12} {:>10}", row.with_transfers ? fmt::format("{:.4f}", row.with_transfers->mean * 1e3) : "-",
        factor_text(speed_up_with_transfers(result, row, kOpenBlas)));
  if (!row.kernel) return print(" {:>9} {:>9} {:>9}", "-", "-", "-");
  print(" {:>9} {:>9} {:>9}", row.kernel->registers, row.kernel->shared_bytes,
        fmt::format("{:.0f}%", row.kernel->occupancy * 100));
}

void print_row(const GemmBenchResult& result, const GemmBenchRow& row, bool on_gpu) {
  print("{:<26} {:>7} {:>12.4f} {:>9} {:>5} {:>10.2f} {:>9} {:>9} {:>10}", name_text(row),
        row.threads > 0 ? fmt::format("{}", row.threads) : "GPU", row.time.mean * 1e3,
        deviation_text(row.runs, row.time), row.runs, flop_per_second(row) / 1e9,
        factor_text(speed_up_over_one_thread(result, row)),
        factor_text(speed_up_over(result, row, kIkjLoops)),
        factor_text(speed_up_over(result, row, kOpenBlas)));
  if (on_gpu) print_gpu_columns(result, row);
  print("{}\n", row.whole() ? "" : "  of " + count_text(row.rows, "row"));
}

}  // namespace

void print_gemm_tables(const GemmBenchRequest& request, const GemmBenchResult& result) {
  print("{}\n", result.device);
  print(
      "mean and deviation: of the runs after a warm-up, without the fastest and the slowest{}\n"
      "x 1: as many times as fast as the same on one thread; x ikj and x OpenBLAS: as these on {}\n",
      request.on_gpu() ? "; kernels by the GPU's clock" : "", count_text(result.threads, "thread"));
  if (request.on_gpu()) {
    print(
        "transfers ms: including copies of the operands to the GPU, page-locked, and of the result back; the "
        "kernel "
        "of a zero-copy variant fetches\n"
        "its operands itself. shared: bytes a block; occupancy: theoretical\n");
  }
  const GemmJob* last = nullptr;
  for (const GemmBenchRow& row : result.rows) {
    if (last == nullptr || *last != row.job) print_header(row.job, request.on_gpu());
    print_row(result, row, request.on_gpu());
    last = &row.job;
  }
  print("\nevery variant's result was compared with {}, within the error of rounding\n", result.verified_by);
}

}  // namespace sepconv::app
