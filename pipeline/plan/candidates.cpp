#include "pipeline/plan/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "pipeline/chain/graph_tile.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kHaloFactor = 4;  // minimum band height as a multiple of its halo, if memory allows
constexpr std::int64_t kDeviceHaloFactor = 2;
constexpr std::int64_t kProductRows =
    512;  // rows of a band that is multiplied by a matrix, which is read again for each band
// Maximum size of bands of a transposed result. Long contiguous pieces in source and sink want large bands;
// larger ones were not measured to be faster, unless the source's blocks are decoded again for each band.
constexpr std::int64_t kMaxTransposedBytes = 64 << 20;
constexpr std::int64_t kMinBusRow = 2 << 10;
constexpr std::int64_t kMaxBusRow = 128 << 10;
constexpr std::int64_t kMinTransposedBytes = 4 << 10;
constexpr double kLongSide = 512;
constexpr double kAlignedSide = 128;

std::int64_t ceil_quotient(std::int64_t value, double unit) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(value) / unit));
}

/// `rows` or slightly more: whole tiles, or a power-of-two fraction of a tile, so that most bands end at a
/// tile's end.
std::int64_t fit_to_tiles(std::int64_t rows, std::int64_t tile_rows) {
  if (rows >= tile_rows) return round_up(rows, tile_rows);
  return tile_rows / static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(tile_rows / rows)));
}

/// `max_size` and its successive halves down to `unit`, each a multiple of `unit` (or the whole `side`) and
/// fitted to tiles of `tile_rows`.
std::vector<std::int64_t> sizes(std::int64_t max_size, std::int64_t unit, std::int64_t side,
                                std::int64_t tile_rows = 1) {
  const auto fit = [=](std::int64_t size) {
    return fit_to_tiles(std::max<std::int64_t>(size, 1), tile_rows);
  };
  std::vector<std::int64_t> result;
  for (std::int64_t size = fit(max_size);; size = fit(size / 2)) {
    const std::int64_t rounded = std::min(round_up(size, unit), side);
    if (result.empty() || rounded < result.back()) result.push_back(rounded);
    if (size <= unit) return result;
  }
}

/// Tile height, in rows of the result, of a file whose tiles may be split between bands: the sink's, else the
/// source's. 1 if there are none.
std::int64_t cut_tile_rows(const PlanProblem& problem, double scale) {
  const SinkLayout& sink = problem.sink.layout();
  const SourceLayout& source = problem.source.layout();
  if (sink.block.rows > 1) return sink.partial_blocks ? sink.block.rows : 1;
  return source.partial_blocks ? ceil_quotient(source.block.rows, scale) : 1;
}

/// Source bytes of a band whose blocks a GPU decodes. A small part of the GPU decodes one block sequentially,
/// so a band needs many blocks; but several bands must remain for overlap.
std::int64_t coded_band_bytes(const PlanProblem& problem) {
  if (!problem.codecs.decodes) return 0;
  const std::int64_t bands_bytes = problem.specs.front().bytes() / problem.machine.device.min_encoded_bands;
  return std::min(problem.machine.device.coded_blocks * problem.source.layout().coded->bytes(), bands_bytes);
}

/// Rows of bands whose parts of the sink's tiles are long enough for several threads that write to one file:
/// up to a whole tile. 1 if one thread writes, or if there are no tiles.
std::int64_t mapped_tile_rows(const PlanProblem& problem, int threads) {
  constexpr std::int64_t kLongPieceBytes = 256 << 10;  // measured on 16 processors (decisions/0033)
  const SinkLayout& sink = problem.sink.layout();
  const Extent image = problem.region.extent();
  if (!sink.partial_blocks || sink.block.rows <= 1 ||
      write_threads(sink, problem.sink.spec(), {sink.block.rows, image.cols}, threads) == 1)
    return 1;
  const std::int64_t row_bytes = piece_bytes(sink, problem.sink.spec(), {1, image.cols});
  return std::min(sink.block.rows, fit_to_tiles(ceil_div(kLongPieceBytes, row_bytes), sink.block.rows));
}

std::vector<std::int64_t> candidate_rows(const PlanProblem& problem, const PlanOptions& options) {
  const Extent image = problem.region.extent();
  const std::int64_t unit = problem.band_unit().rows;
  if (options.band_rows > 0) return {std::min(round_up(options.band_rows, unit), image.rows)};
  // Source rows per result row.
  const double scale =
      static_cast<double>(problem.source_extent(image).rows) / static_cast<double>(image.rows);
  const Rect read = problem.graph.source_rect(problem.region);
  const std::int64_t pixel_bytes = problem.specs.front().pixel_bytes();
  const std::int64_t input_row_bytes = std::max<std::int64_t>(1, read.cols * pixel_bytes);
  const std::int64_t halo = problem.halo_rows({1, image.cols});
  const auto image_bytes = static_cast<double>(read.area() * pixel_bytes);
  const bool staged =
      problem.devices > 0 && !(problem.source.is_page_locked() && problem.sink.is_page_locked());
  const DeviceModel& device = problem.machine.device;
  const std::int64_t device_bytes =
      std::clamp(static_cast<std::int64_t>(std::sqrt(image_bytes * device.band_bytes(problem.machine.bus))),
                 device.min_band_bytes, staged ? device.max_staged_band_bytes : device.max_band_bytes);
  std::int64_t band_bytes = problem.devices > 0 ? std::max(device_bytes, coded_band_bytes(problem))
                                                : problem.machine.host.band_bytes;
  if (problem.with_cpu) band_bytes = std::max(band_bytes, problem.machine.host.band_bytes);
  const double source_bytes = scale * static_cast<double>(input_row_bytes);
  const double row_bytes = problem.devices > 0 && scale == 1
                               ? source_bytes
                               : std::max(source_bytes, static_cast<double>(problem.sink.spec().row_bytes()));
  const std::int64_t halo_factor = problem.devices > 0 ? kDeviceHaloFactor : kHaloFactor;
  const std::int64_t busy_rows =
      problem.devices > 0 ? ceil_div(device.product_elements, image.cols) : kProductRows;
  const std::int64_t product_rows = problem.sum_length > 0 ? busy_rows : 0;
  const std::int64_t rows =
      std::max({ceil_quotient(band_bytes, row_bytes), ceil_quotient(halo_factor * halo, scale),
                ceil_quotient(problem.read_unit_rows(), scale), product_rows,
                mapped_tile_rows(problem, threads_of(options))});
  return sizes(rows, unit, image.rows, cut_tile_rows(problem, scale));
}

std::vector<std::int64_t> candidate_cols(const PlanProblem& problem, const PlanOptions& options) {
  const Extent image = problem.region.extent();
  const std::int64_t unit = problem.band_unit().cols;
  const bool whole_rows = problem.source.layout().access == Access::sequential ||
                          problem.sink.layout().access == Access::sequential;
  if (options.band_cols > 0) {
    const std::int64_t cols = std::min(round_up(options.band_cols, unit), image.cols);
    if (whole_rows && cols < image.cols)
      throw InvalidArgument(
          "bands have whole rows where the source or the result goes row by row, as with pipes, smaller "
          "levels and filters along z; leave PlanOptions::band_cols out");
    return {cols};
  }
  if (whole_rows) return {image.cols};
  const std::int64_t min_cols = problem.result_extent({1, std::min<std::int64_t>(64, image.cols)}).cols;
  return sizes(image.cols, std::lcm(round_up(min_cols, unit), problem.tile_cols()), image.cols);
}

/// Candidate bands grouped by width, widest first: only bands of full width read each source row once.
std::vector<std::vector<Extent>> untransposed_bands(const PlanProblem& problem, const PlanOptions& options) {
  std::vector<std::vector<Extent>> groups;
  const std::vector<std::int64_t> rows = candidate_rows(problem, options);
  for (const std::int64_t cols : candidate_cols(problem, options)) {
    groups.emplace_back();
    for (const std::int64_t count : rows) groups.back().push_back({count, cols});
  }
  return groups;
}

/// One side of a transposed band: about `wanted`, a multiple of the sink's unit (required) and of the
/// source's unit if that is not much more. Contains whole items unless parts of an item end at the sink's
/// blocks.
std::int64_t transposed_side(double wanted, std::int64_t sink_unit, std::int64_t source_unit,
                             std::int64_t item, std::int64_t side) {
  const auto min_size = static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(side)));
  const bool in_item = item == side || (min_size < item && item % sink_unit == 0);
  const std::int64_t unit = in_item ? sink_unit : std::lcm(item, sink_unit);
  const std::int64_t common_unit = std::lcm(unit, std::min(source_unit, side));
  const std::int64_t rounded =
      round_up(min_size, round_up(min_size, common_unit) <= 2 * min_size ? common_unit : unit);
  return std::min(rounded, in_item ? item : side);
}

/// Candidate bands of a transposed result: blocks of several shapes and sizes, from the full width of the
/// source to the full width of the result.
std::vector<Extent> transposed_bands(const PlanProblem& problem, const PlanOptions& options) {
  const Extent image = problem.region.extent();
  const Extent unit = problem.band_unit();
  const SourceLayout& source = problem.source.layout();
  const bool whole_rows = options.band_rows == 0 && source.access == Access::sequential;
  const bool whole_cols = options.band_cols == 0 && problem.sink.layout().access == Access::sequential;
  const auto pixel_bytes = static_cast<double>(problem.specs.back().pixel_bytes());
  std::vector<Extent> bands;
  // Aligned rows are faster in memory.
  const auto aligned = [](double side) {
    return side >= kLongSide ? side - std::fmod(side, kAlignedSide) : side;
  };
  const auto offer = [&](double rows, double cols) {
    rows = aligned(rows), cols = aligned(cols);
    if (whole_rows) rows = static_cast<double>(image.rows);
    if (whole_cols) cols = static_cast<double>(image.cols);
    if (options.band_rows > 0) rows = static_cast<double>(options.band_rows);
    if (options.band_cols > 0) cols = static_cast<double>(options.band_cols);
    const Extent band{transposed_side(rows, unit.rows, options.band_rows > 0 ? 1 : source.block.cols,
                                      problem.item.rows, image.rows),
                      transposed_side(cols, unit.cols, options.band_cols > 0 ? 1 : source.block.rows,
                                      problem.item.cols, image.cols)};
    if (std::ranges::find(bands, band) == bands.end()) bands.push_back(band);
  };
  const bool decodes_blocks = source.block.cols > 1;
  const bool on_bus = problem.devices > 0 && problem.source.is_page_locked() && problem.sink.is_page_locked();
  const std::int64_t max_bytes = decodes_blocks ? std::max(kMaxTransposedBytes, problem.sink.spec().bytes())
                                 : on_bus       ? problem.machine.device.max_transposed_bytes
                                                : kMaxTransposedBytes;
  for (auto bytes = static_cast<double>(max_bytes); bytes >= kMinTransposedBytes; bytes /= 2) {
    const double pixels = bytes / pixel_bytes;
    const double item = static_cast<double>(problem.item.area());
    if (item <= pixels) {  // whole items, stacked vertically or horizontally
      const double items = std::floor(pixels / item);
      const bool down = problem.item.rows < image.rows;
      offer(static_cast<double>(problem.item.rows) * (down ? items : 1),
            static_cast<double>(problem.item.cols) * (down ? 1 : items));
      continue;
    }
    const auto item_rows = static_cast<double>(problem.item.rows);
    const auto item_cols = static_cast<double>(problem.item.cols);
    for (const double ratio : {1.0, 4.0, 0.25, 16.0, 0.0625}) {
      const double rows = std::min(std::sqrt(pixels * ratio), item_rows);
      offer(rows, std::min(pixels / rows, item_cols));
    }
    offer(item_rows, pixels / item_rows);
    offer(pixels / item_cols, item_cols);
  }
  // Also try row lengths that are efficient for copies over the bus.
  for (std::int64_t up = kMinBusRow; on_bus && up <= kMaxBusRow; up *= 2) {
    for (std::int64_t down = kMinBusRow; down <= kMaxBusRow; down *= 2) {
      const Extent band{up / static_cast<std::int64_t>(pixel_bytes),
                        down / static_cast<std::int64_t>(pixel_bytes)};
      if (band.rows > 0 && band.cols > 0 &&
          band.area() <= problem.machine.device.max_transposed_bytes / static_cast<std::int64_t>(pixel_bytes))
        offer(static_cast<double>(band.rows), static_cast<double>(band.cols));
    }
  }
  offer(1, 1);
  return bands;
}

void check_transposed(const PlanProblem& problem, const PlanOptions& options) {
  const Extent image = problem.region.extent();
  const bool cut_rows = options.band_rows > 0 && options.band_rows < image.rows;
  const bool cut_cols = options.band_cols > 0 && options.band_cols < image.cols;
  if ((cut_rows && problem.source.layout().access == Access::sequential) ||
      (cut_cols && problem.sink.layout().access == Access::sequential)) {
    throw InvalidArgument(
        "a transposed result of a source or sink that goes row by row cannot be cut like that; leave "
        "PlanOptions::band_rows and PlanOptions::band_cols out");
  }
}

}  // namespace

std::vector<std::vector<Extent>> candidate_bands(const PlanProblem& problem, const PlanOptions& options) {
  if (!problem.turned) return untransposed_bands(problem, options);
  check_transposed(problem, options);
  return {transposed_bands(problem, options)};
}

std::string explain_transposed(const PlanProblem& problem, const Plan& plan) {
  const Rect needed = plan.graph.source_rect(problem.middle(plan.band));
  const auto piece = [](std::int64_t cols, const ImageSpec& image, Extent block) {
    if (cols >= image.extent.cols) return std::string("whole rows");
    if (block.cols > 1) return std::string("whole blocks");
    return "pieces of " + format_bytes(static_cast<double>(cols * image.pixel_bytes()));
  };
  return fmt::format(
      "rows of the source become columns of the result: of each row, a band is read in {} and written in "
      "{}{}",
      piece(needed.cols, plan.source(), problem.source.layout().block),
      piece(plan.band.cols, plan.result(), problem.sink.layout().block),
      plan.kernel_stores_rows ? ", stored by a kernel, because copies of such short rows are slow" : "");
}

}  // namespace sepconv
