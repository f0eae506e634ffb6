#include "pipeline/stages/multirate.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/resample/resample_kernel.hpp"

namespace sepconv {
namespace {

// Found by search: the fewest multiply-adds for which both axes together stay below 1e-4.
constexpr double kSigmaInCells = 1.7, kCellBlur = 0.9;

std::int64_t cell_of(double sigma) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(sigma / kSigmaInCells));
}

ResampleAxis axis_of(const MultirateSide& side, bool to_cells) {
  const auto cell = static_cast<double>(side.cell);
  return {.scale = to_cells ? cell : 1 / cell,
          .filter = ResampleFilter::gaussian,
          .cells = {to_cells ? side.to_cells : side.from_cells, side.cell}};
}

MultirateSide::Range range_of(const ResampleAxis& axis, const MultirateSide::Range& range) {
  const ResampleWindow first = resample_window(axis, range.first);
  const ResampleWindow last = resample_window(axis, range.first + range.count - 1);
  return {first.first, last.first + last.count - first.first};
}

std::vector<double> weights_of(const ResampleAxis& axis, std::int64_t i, const ResampleWindow& window) {
  std::vector<double> weights;
  const double sum = resample_sum(axis, i, window);
  for (std::int64_t k = 0; k < window.count; ++k)
    weights.push_back(resample_weight(axis, i, window.first + k) / sum);
  return weights;
}

/// Taps for offsets -reach to reach from the middle of a pixel.
std::vector<double> exact_taps(double sigma, std::int64_t reach) {
  std::vector<double> taps;
  double sum = 0;
  for (std::int64_t x = -reach; x <= reach; ++x)
    sum += taps.emplace_back(std::exp(-0.5 * static_cast<double>(x * x) / (sigma * sigma)));
  for (double& tap : taps) tap /= sum;
  return taps;
}

}  // namespace

MultirateSide::MultirateSide(double of_sigma)
    : sigma(of_sigma),
      cell(cell_of(of_sigma)),
      to_cells(kCellBlur * static_cast<double>(cell)),
      from_cells(std::sqrt(sigma * sigma - to_cells * to_cells)) {}

MultirateSide::Range MultirateSide::cells_of(const Range& pixels) const {
  return range_of(axis_of(*this, false), pixels);
}

MultirateSide::Range MultirateSide::pixels_of(const Range& cells) const {
  return range_of(axis_of(*this, true), cells);
}

double MultirateSide::taps_to_cells() const {
  return 2 * resample_radius(axis_of(*this, true)) / static_cast<double>(cell);
}

double MultirateSide::taps() const { return taps_to_cells() + 2 * resample_radius(axis_of(*this, false)); }

double MultirateSide::worst_error() const {
  const ResampleAxis down = axis_of(*this, true), up = axis_of(*this, false);
  const ResampleWindow of_cell = resample_window(down, 0);
  const std::vector<double> to = weights_of(down, 0, of_cell);
  const std::int64_t reach = static_cast<std::int64_t>(8 * sigma) + cell;
  const std::vector<double> exact = exact_taps(sigma, reach);
  double worst = 0;
  const std::int64_t step = std::max<std::int64_t>(1, cell / 128);
  for (std::int64_t pixel = 0; 2 * pixel < cell; pixel += step) {  // the other half is symmetric
    std::vector<double> taps(exact.size());
    const ResampleWindow cells = resample_window(up, pixel);
    const std::vector<double> from = weights_of(up, pixel, cells);
    for (std::int64_t k = 0; k < cells.count; ++k) {
      const std::int64_t first = (cells.first + k) * cell + of_cell.first - pixel + reach;
      for (std::size_t j = 0; j < to.size(); ++j)
        taps[static_cast<std::size_t>(first) + j] += from[static_cast<std::size_t>(k)] * to[j];
    }
    double error = 0;
    for (std::size_t x = 0; x < taps.size(); ++x) error += std::abs(taps[x] - exact[x]);
    worst = std::max(worst, error);
  }
  return worst;
}

}  // namespace sepconv
