// The results of bench gemm as JSON; schema in docs/formats.md.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/console.hpp"
#include "app/json_text.hpp"
#include "gemm.hpp"

namespace sepconv::app {

namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json();
}
ordered_json or_null(int value) { return value > 0 ? ordered_json(value) : ordered_json(); }

ordered_json kernel_json(const KernelFacts& facts) {
  return {{"registers", facts.registers},
          {"shared_bytes", facts.shared_bytes},
          {"block_threads", facts.block_threads},
          {"occupancy", facts.occupancy}};
}

ordered_json transfers_json(const TrimmedMean& time) {
  return {{"mean_seconds", time.mean}, {"deviation_seconds", time.deviation}};
}

ordered_json row_json(const GemmBenchResult& result, const GemmBenchRow& row) {
  const GemmJob& job = row.job;
  return {{"type", name_of(job.type)},
          {"product", name_of(job.product)},
          {"m", job.shape.m},
          {"n", job.shape.n},
          {"k", job.shape.k},
          {"name", row.name},
          {"threads", or_null(row.threads)},
          {"block", or_null(row.block)},
          {"measured_rows", row.rows},
          {"runs", row.runs},
          {"mean_seconds", row.time.mean},
          {"deviation_seconds", row.time.deviation},
          {"flop_per_second", flop_per_second(row)},
          {"flop_per_byte", job.flop_per_byte()},
          {"with_transfers", row.with_transfers ? transfers_json(*row.with_transfers) : ordered_json()},
          {"speed_up_over_one_thread", or_null(speed_up_over_one_thread(result, row))},
          {"speed_up_over_loops", or_null(speed_up_over(result, row, kIkjLoops))},
          {"speed_up_over_openblas", or_null(speed_up_over(result, row, kOpenBlas))},
          {"speed_up_over_openblas_with_transfers", or_null(speed_up_with_transfers(result, row, kOpenBlas))},
          {"kernel", row.kernel ? kernel_json(*row.kernel) : ordered_json()}};
}

}  // namespace

void print_gemm_json(const GemmBenchRequest& request, const GemmBenchResult& result) {
  ordered_json all = {{"device", result.device},
                      {"threads", result.threads},
                      {"runs", request.runs},
                      {"verified_by", result.verified_by},
                      {"measured", ordered_json::array()}};
  for (const GemmBenchRow& row : result.rows) all["measured"].push_back(row_json(result, row));
  print_lines(json_lines(all));
}

}  // namespace sepconv::app
