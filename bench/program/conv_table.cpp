// The results of bench conv as tables.
#include <fmt/format.h>

#include "app/console.hpp"
#include "conv.hpp"
#include "core/count_text.hpp"

namespace sepconv::app {

namespace {

std::string percent(const TrimmedMean& time) {
  return fmt::format("{:.1f}%", time.mean > 0 ? time.deviation / time.mean * 100 : 0);
}

/// Speed-up over another variant; "-" if that was not measured.
std::string speed_up_text(const ConvResult& result, const ConvRow& row, int base_variant) {
  const ConvRow* const base = find_row(result, row, base_variant);
  return base != nullptr ? fmt::format("{:.2f}", base->time.mean / row.time.mean) : "-";
}

void print_variants(const ConvRequest& request, const ConvResult& result) {
  print("\n{:>4} {:>6} {:>4} {:<17} {:>10} {:>9} {:>8} {:>9} {:>7} {:>7} {:>8} {:>8} {:>8}\n", "type",
        "radius", "variant", "", "mean ms", "deviation", "Gpix/s", "GB/s", "of copy", "of FMA", "of both",
        "x naive", "x CPU");
  for (const ConvRow& row : result.rows) {
    print(
        "{:>4} {:>6} {:>4} {:<17} {:>10.3f} {:>9} {:>8.2f} {:>9.1f} {:>7.3f} {:>7.3f} {:>8.3f} {:>8} {:>8}\n",
        name_of(row.type), row.radius, row.variant > 0 ? fmt::format("{}", row.variant) : "-", row.name,
        row.time.mean * 1e3, percent(row.time), pixels_per_second(request, row) / 1e9,
        bytes_per_second(request, row) / 1e9, copy_fraction(request, row), fma_fraction(request, row),
        roofline_fraction(request, row), speed_up_text(result, row, 1), speed_up_text(result, row, 0));
  }
  print(
      "of both: of the roofline, the nearer of copy and FMA; GB/s: every pixel read once and written once\n");
}

/// The lab's table: times of its best kernel and of sepconv's, divided by the time of the copies, for each
/// radius.
void print_copy_ratios(const ConvResult& result) {
  print("\n{:>4} {:>6} {:>10} {:>9} {:>17} {:>9} {:>11} {:>9}\n", "type", "radius", "copies ms", "deviation",
        "shared tile ms", "/ copies", "ours ms", "/ copies");
  for (const ConvRow& row : result.rows) {
    const CopyRow* const copies = find_copies(result, row);
    const ConvRow* const fused = find_row(result, row, 5);
    const ConvRow* const ours = fused != nullptr ? fused : find_row(result, row, 4);
    if (row.variant != 3 || copies == nullptr || ours == nullptr) continue;
    const double both = copies->upload.mean + copies->download.mean;
    print("{:>4} {:>6} {:>10.2f} {:>8.1f}% {:>17.3f} {:>9.3f} {:>11.3f} {:>9.3f}\n", name_of(row.type),
          row.radius, both * 1e3, (copies->upload.deviation + copies->download.deviation) / both * 100,
          row.time.mean * 1e3, row.time.mean / both, ours->time.mean * 1e3, ours->time.mean / both);
  }
  print(
      "copies: host to device, then device to host, page-locked; ours: fused where it has room, else two "
      "passes\n");
}

/// Prints the pageable copies and the page-locked copies of the same radius.
void print_copies(const ConvRequest& request, const ConvResult& result) {
  print("\n{:>4} {:<12} {:>10} {:>9} {:>8} {:>12} {:>9} {:>8}\n", "type", "host memory", "upload ms",
        "deviation", "GB/s", "download ms", "deviation", "GB/s");
  for (const CopyRow& row : result.copies) {
    if (row.radius != request.radii.back()) continue;
    const double bytes = static_cast<double>(request.extent.area() * size_of(row.type));
    print("{:>4} {:<12} {:>10.2f} {:>9} {:>8.2f} {:>12.2f} {:>9} {:>8.2f}\n", name_of(row.type),
          row.page_locked ? "page-locked" : "pageable", row.upload.mean * 1e3, percent(row.upload),
          bytes / row.upload.mean / 1e9, row.download.mean * 1e3, percent(row.download),
          bytes / row.download.mean / 1e9);
  }
}

void print_tiled(const ConvRequest& request, const ConvResult& result) {
  print("\n{} x {} in bands, radius {}, host memory to host memory\n", request.tiled_extent.cols,
        request.tiled_extent.rows, request.tiled_radius);
  print("{:>4} {:<16} {:>9} {:>9} {:>10} {:>9} {:>8}\n", "type", "", "in flight", "band rows", "mean ms",
        "deviation", "Gpix/s");
  for (const TiledRow& row : result.tiled) {
    print("{:>4} {:<16} {:>9} {:>9} {:>10.2f} {:>9} {:>8.2f}\n", name_of(row.type), row.name, row.in_flight,
          row.band_rows, row.time.mean * 1e3, percent(row.time),
          static_cast<double>(request.tiled_extent.area()) / row.time.mean / 1e9);
  }
  print("in flight: streams or slots; the lab's bands cross the bus twice each way, those of run once\n");
}

}  // namespace

void print_conv_tables(const ConvRequest& request, const ConvResult& result) {
  const bool gpu = !result.copies.empty();
  print("{} x {}{}, zeros beyond the image, {}\n", request.extent.cols, request.extent.rows,
        request.channels > 1 ? fmt::format(" x {} channels", request.channels) : "", result.device);
  print("mean and deviation: of {} after a warm-up, without the fastest and the slowest{}\n",
        count_text(request.runs, "run"), gpu ? "; kernels by the GPU's clock" : "");
  print_variants(request, result);
  if (!gpu) return;
  print(
      "every variant's result has the host engine's bits in all windows that were compared: edges, corners, a "
      "row and a column across\n");
  print_copy_ratios(result);
  print_copies(request, result);
  if (!result.tiled.empty()) print_tiled(request, result);
}

}  // namespace sepconv::app
