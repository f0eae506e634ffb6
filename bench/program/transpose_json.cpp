// The results of bench transpose as JSON; schema in docs/formats.md.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/console.hpp"
#include "app/json_text.hpp"
#include "transpose.hpp"

namespace sepconv::app {

namespace {

using nlohmann::ordered_json;

ordered_json or_null(const std::optional<double>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

/// Rows and columns of a matrix, or the three lengths.
ordered_json shape_json(const TransposeJob& job, const TensorExtent& extent) {
  if (job.matrix) return {extent[1], extent[2]};
  return {extent[0], extent[1], extent[2]};
}

ordered_json row_json(const TransposeResult& result, const TransposeRow& row) {
  return {{"type", name_of(row.job.type)},
          {"shape", shape_json(row.job, row.job.extent)},
          {"permutation", permutation_text(row.job)},
          {"name", row.name},
          {"threads", row.threads > 0 ? ordered_json(row.threads) : ordered_json()},
          {"measured_shape", shape_json(row.job, row.part)},
          {"runs", row.runs},
          {"mean_seconds", row.time.mean},
          {"deviation_seconds", row.time.deviation},
          {"bytes_per_second", bytes_per_second(row)},
          {"copy_limit_bytes_per_second", row.copy_limit},
          {"share_of_copy", copy_fraction(row)},
          {"speed_up_over_loop", or_null(speed_up(result, row))},
          {"speed_up_with_copies", or_null(speed_up_with_copies(result, row))}};
}

ordered_json copy_json(const TransposeJob& job, const TrimmedMean& time) {
  return {{"mean_seconds", time.mean},
          {"deviation_seconds", time.deviation},
          {"bytes_per_second", static_cast<double>(job.bytes()) / time.mean}};
}

ordered_json copies_json(const TransposeCopies& copies) {
  return {{"type", name_of(copies.job.type)},
          {"shape", shape_json(copies.job, copies.job.extent)},
          {"permutation", permutation_text(copies.job)},
          {"upload", copy_json(copies.job, copies.upload)},
          {"download", copy_json(copies.job, copies.download)}};
}

}  // namespace

void print_transpose_json(const TransposeRequest& request, const TransposeResult& result) {
  ordered_json all = {{"device", result.device},
                      {"threads", request.threads()},
                      {"runs", request.runs},
                      {"measured", ordered_json::array()},
                      {"copies", ordered_json::array()}};
  for (const TransposeRow& row : result.rows) all["measured"].push_back(row_json(result, row));
  for (const TransposeCopies& copies : result.copies) all["copies"].push_back(copies_json(copies));
  print_lines(json_lines(all));
}

}  // namespace sepconv::app
