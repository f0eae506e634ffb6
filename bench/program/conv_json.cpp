// The results of bench conv as JSON; schema in docs/formats.md.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/console.hpp"
#include "app/json_text.hpp"
#include "conv.hpp"

namespace sepconv::app {

namespace {

using nlohmann::ordered_json;

ordered_json speed_up(const ConvResult& result, const ConvRow& row, int base_variant) {
  const ConvRow* const base = find_row(result, row, base_variant);
  return base != nullptr ? ordered_json(base->time.mean / row.time.mean) : ordered_json();
}

ordered_json over_copies(const ConvResult& result, const ConvRow& row) {
  const CopyRow* const copies = find_copies(result, row);
  if (copies == nullptr || row.variant == 0) return {};
  return row.time.mean / (copies->upload.mean + copies->download.mean);
}

ordered_json row_json(const ConvRequest& request, const ConvResult& result, const ConvRow& row) {
  return {{"type", name_of(row.type)},
          {"radius", row.radius},
          {"variant", row.variant > 0 ? ordered_json(row.variant) : ordered_json()},
          {"name", row.name},
          {"mean_seconds", row.time.mean},
          {"deviation_seconds", row.time.deviation},
          {"pixels_per_second", pixels_per_second(request, row)},
          {"bytes_per_second", bytes_per_second(request, row)},
          {"copy_limit_bytes_per_second", row.limits.copy_bytes_per_second},
          {"fma_limit_per_second", row.limits.fma_per_second},
          {"share_of_copy", copy_fraction(request, row)},
          {"share_of_fma", fma_fraction(request, row)},
          {"share_of_roofline", roofline_fraction(request, row)},
          {"speed_up_over_naive", speed_up(result, row, 1)},
          {"speed_up_over_cpu", speed_up(result, row, 0)},
          {"time_over_copies", over_copies(result, row)}};
}

ordered_json copy_json(const ConvRequest& request, PixelType type, const TrimmedMean& time) {
  return {{"mean_seconds", time.mean},
          {"deviation_seconds", time.deviation},
          {"bytes_per_second", static_cast<double>(request.extent.area() * size_of(type)) / time.mean}};
}

ordered_json copies_json(const ConvRequest& request, const CopyRow& row) {
  return {{"type", name_of(row.type)},
          {"radius", row.radius},
          {"page_locked", row.page_locked},
          {"upload", copy_json(request, row.type, row.upload)},
          {"download", copy_json(request, row.type, row.download)}};
}

ordered_json tiled_json(const ConvRequest& request, const TiledRow& row) {
  return {{"type", name_of(row.type)},
          {"name", row.name},
          {"in_flight", row.in_flight},
          {"band_rows", row.band_rows},
          {"mean_seconds", row.time.mean},
          {"deviation_seconds", row.time.deviation},
          {"pixels_per_second", static_cast<double>(request.tiled_extent.area()) / row.time.mean}};
}

}  // namespace

void print_conv_json(const ConvRequest& request, const ConvResult& result) {
  ordered_json all = {{"cols", request.extent.cols},
                      {"rows", request.extent.rows},
                      {"channels", request.channels},
                      {"device", result.device},
                      {"runs", request.runs},
                      {"measured", ordered_json::array()},
                      {"copies", ordered_json::array()},
                      {"tiled_cols", request.tiled_extent.cols},
                      {"tiled_rows", request.tiled_extent.rows},
                      {"tiled_radius", request.tiled_radius},
                      {"tiled", ordered_json::array()}};
  for (const ConvRow& row : result.rows) all["measured"].push_back(row_json(request, result, row));
  for (const CopyRow& row : result.copies) all["copies"].push_back(copies_json(request, row));
  for (const TiledRow& row : result.tiled) all["tiled"].push_back(tiled_json(request, row));
  print_lines(json_lines(all));
}

}  // namespace sepconv::app
