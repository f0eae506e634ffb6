// How bench gemm times its runs, its jobs, and the rates computed from the times.
#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "gemm.hpp"

namespace sepconv::app {

namespace {

constexpr double kSlowSeconds = 0.5;
constexpr int kSlowRuns = 3;  // minimum for omitting the fastest and the slowest
constexpr double kMaxSeconds = 2;
constexpr std::int64_t kGrowth = 4;

const GemmBenchRow* find_row(const GemmBenchResult& result, const GemmJob& job, const std::string& name,
                             int threads) {
  const auto found = std::ranges::find_if(result.rows, [&](const GemmBenchRow& row) {
    return row.job == job && row.name == name && row.threads == threads;
  });
  return found == result.rows.end() ? nullptr : &*found;
}

}  // namespace

const char* name_of(GemmProduct product) {
  constexpr const char* kNames[] = {"A B", "A^T B", "A B^T + C"};
  return kNames[static_cast<std::size_t>(product)];
}

ImageSpec GemmJob::a() const {
  return {trans_a() ? Extent{shape.k, shape.m} : Extent{shape.m, shape.k}, 1, type};
}
ImageSpec GemmJob::b() const {
  return {trans_b() ? Extent{shape.n, shape.k} : Extent{shape.k, shape.n}, 1, type};
}

double GemmJob::flop_per_byte() const {
  return flop() / static_cast<double>(a().bytes() + b().bytes() + (adds() ? 2 : 1) * out().bytes());
}

std::vector<GemmJob> gemm_jobs(const GemmBenchRequest& request) {
  std::vector<GemmShape> shapes = request.shapes;
  if (shapes.empty()) shapes = {{1024, 1024, 1024}, {3072, 3072, 3072}};
  std::vector<GemmJob> jobs;
  for (const GemmShape& shape : shapes) {
    for (const PixelType type : request.types) {
      for (const GemmProduct product : {GemmProduct::ab, GemmProduct::atb, GemmProduct::abt_plus_c})
        jobs.push_back({type, shape, product});
    }
  }
  return jobs;
}

std::string text_of(const GemmShape& shape) { return fmt::format("{} x {} x {}", shape.m, shape.n, shape.k); }

double flop_per_second(const GemmBenchRow& row) {
  return 2 * GemmShape{row.rows, row.job.shape.n, row.job.shape.k}.operations() / row.time.mean;
}

std::optional<double> speed_up_over_one_thread(const GemmBenchResult& result, const GemmBenchRow& row) {
  const GemmBenchRow* const single_thread =
      row.threads > 0 ? find_row(result, row.job, row.name, 1) : nullptr;
  return single_thread != nullptr ? std::optional(flop_per_second(row) / flop_per_second(*single_thread))
                                  : std::nullopt;
}

std::optional<double> speed_up_over(const GemmBenchResult& result, const GemmBenchRow& row,
                                    const char* name) {
  const GemmBenchRow* const base = find_row(result, row.job, name, result.threads);
  return base != nullptr ? std::optional(flop_per_second(row) / flop_per_second(*base)) : std::nullopt;
}

std::optional<double> speed_up_with_transfers(const GemmBenchResult& result, const GemmBenchRow& row,
                                              const char* name) {
  const std::optional<double> without = speed_up_over(result, row, name);
  if (!without || !row.with_transfers) return {};
  return *without * row.time.mean / row.with_transfers->mean;
}

void time_rows(const GemmBenchRequest& request, std::int64_t min_rows, const SecondsOfRows& seconds_of_rows,
               GemmBenchRow& row) {
  const std::int64_t all = row.job.shape.m;
  const auto seconds = [&](std::int64_t rows) {
    if (request.options.stop.stop_requested()) throw Cancelled();
    return seconds_of_rows(rows);
  };
  row.rows = std::min(all, min_rows);
  double last = seconds(row.rows);
  // The first call of a library also loads it, so a slow one is repeated.
  if (last > kSlowSeconds) last = seconds(row.rows);
  while (row.rows < all && last * static_cast<double>(kGrowth) < kMaxSeconds) {
    row.rows = std::min(all, row.rows * kGrowth);
    last = seconds(row.rows);
  }
  row.runs = last > kSlowSeconds ? kSlowRuns : request.runs;
  row.time = time_trimmed(row.runs, request.options.stop, [&] { return seconds_of_rows(row.rows); });
}

}  // namespace sepconv::app
