#include "sepconv/pipeline/plan/cost.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sepconv/pipeline/chain/chain_tile.hpp"
#include "sepconv/pipeline/plan/sizes.hpp"

namespace sepconv {
namespace {

// Constants of the cost model, in units of one multiply-add; they only rank candidates. Measured on AVX-512
// and AVX2 processors, where a core does some 20 to 60 multiply-adds a nanosecond.
constexpr double kRowOverhead = 3000;    // starting a row of a tile: border, pointers, loop set-up
constexpr double kTileOverhead = 100e3;  // handing a tile to a thread: some 3 us
constexpr double kBandOverhead =
    3e6;  // handing a band from reader to computer to writer, and waking them: some 80 us
constexpr double kByteMoved = 8;  // reading or writing a byte of a band
constexpr double kStraggler =
    0.25;  // of a tile: threads wait for the last one, which other work on the machine holds up
constexpr double kPackedElement = 16;  // of an operand of a product: reading, converting and storing it
constexpr std::int64_t kCacheBytes = 1 << 20;  // scratch that one core's L2 cache keeps
constexpr double kOutOfCache = 1.3;
// A piece of a file of its own, a row of a copy within memory of its own. They too only rank. All threads
// read, but the kernel lets one at a time write into a file.
constexpr double kReadPieceBytes = 512;
constexpr double kWrittenPieceBytes = 8192;
// The same of rows of tiles, each of which lies elsewhere: 1 and 3 us.
constexpr double kReadTileBytes = 4096;
constexpr double kWrittenTileBytes = 16384;
constexpr double kBusFactor = 10;                   // so many times more bytes go over a GPU's bus meanwhile
constexpr std::int64_t kLongFilePiece = 256 << 10;  // longer ones were not seen to be faster
constexpr double kMemoryPieceBytes = 256;
// A row of a copy between page-locked memory and a GPU, followed by a gap: while kernels run now and then it
// takes some 0.12 us more than its bytes do, in a long upload half of it, in images of short rows less (the
// square of their length). A kernel stores short rows at four fifths of the bus's rate. Measured on an H200.
constexpr double kBusRowBytes = 6000;
constexpr double kLongUploadedRowBytes = 2900;
constexpr std::int64_t kLongUploadedRow = 32 << 10;
constexpr double kBusRowPitch = 64 << 10;
constexpr double kStoredByte = 0.18;
constexpr double kStoredRowBytes = 80;
constexpr std::int64_t kMostSampled = 64;  // parts of a result that are looked at one by one
constexpr double kOverBudget = 1e3;        // never chosen while a smaller scratch is to be had
// Of a GPU on a bus, in seconds; they too only rank candidates. Measured on an H200.
constexpr double kDeviceOperation = 1.0 / 1e13;
constexpr double kBusByte = 1.0 / 50e9;
constexpr double kDeviceBand = 30e-6;  // launches and events of a band

constexpr double kFirstAndLast =
    1.0;  // of the time of a row of bands: reading the first and writing the last hide behind nothing
constexpr double kNoOverlap = 1.6;     // one slot: reading, computing and writing wait for each other
constexpr double kSomeOverlap = 1.05;  // two slots: one of the three waits at times

double ceil_ratio(std::int64_t value, std::int64_t unit) {
  return static_cast<double>(ceil_div(value, unit));
}

/// Estimated time of a band over `threads` threads when it is cut into tiles like this.
double band_work(const PlanProblem& problem, Extent band, Extent tile, int threads) {
  const double tiles = ceil_ratio(band.rows, tile.rows) * ceil_ratio(band.cols, tile.cols);
  const double waves =
      std::max(1.0, static_cast<double>(ceil_div(static_cast<std::int64_t>(tiles), threads)));
  const double stages = static_cast<double>(std::max<std::size_t>(1, problem.chain.size()));
  const double per_tile =
      kTileOverhead + tile_operations(problem.chain, problem.specs, tile) +
      kRowOverhead * stages * static_cast<double>(problem.turned ? tile.cols : tile.rows) +
      kPackedElement * problem.sum_length * static_cast<double>(tile.rows + tile.cols);
  return (waves + (threads > 1 ? kStraggler : 0)) * per_tile;
}

double scratch_factor(std::int64_t arena_bytes, std::int64_t max_arena_bytes) {
  if (arena_bytes > max_arena_bytes)
    return kOverBudget * static_cast<double>(arena_bytes) / static_cast<double>(max_arena_bytes);
  return arena_bytes > kCacheBytes ? kOutOfCache : 1.0;
}

/// Pixels of the source's blocks that `part` of the result touches. Blocks that it shares with the part below
/// are not counted for both, unless parts of items one below the other are computed in between.
std::int64_t decoded_pixels(const PlanProblem& problem, const Rect& part) {
  const Extent source = problem.specs.front().extent;
  const Extent block = problem.source.layout().unit();
  const Rect needed = source_rect(problem.chain, problem.specs, part);
  const auto touched = [](std::int64_t begin, std::int64_t end, std::int64_t unit, std::int64_t side) {
    return std::min(round_up(end, unit), side) - begin / unit * unit;
  };
  const bool torn = problem.item.rows < problem.specs.back().extent.rows && part.rows < problem.item.rows;
  return touched(needed.row, needed.row_end(), torn ? problem.read_unit_rows() : 1, source.rows) *
         touched(needed.col, needed.col_end(), block.cols, source.cols);
}

/// Sum of decoded_pixels over `count` parts of the result, part(index) being one of them. Of many, those in
/// the middle are alike but for where the source's blocks begin, and a run of them stands for all.
template <class Part>
std::int64_t sum_decoded(const PlanProblem& problem, std::int64_t count, const Part& part) {
  const auto sum = [&](std::int64_t begin, std::int64_t end) {
    std::int64_t pixels = 0;
    for (std::int64_t index = begin; index < end; ++index) pixels += decoded_pixels(problem, part(index));
    return pixels;
  };
  if (count <= kMostSampled) return sum(0, count);
  const std::int64_t sampled = kMostSampled - 2;
  const std::int64_t begin = (count - sampled) / 2;
  const double each = static_cast<double>(sum(begin, begin + sampled)) / static_cast<double>(sampled);
  return sum(0, 1) + sum(count - 1, count) + std::llround(each * static_cast<double>(count - 2));
}

/// Source bytes decoded over the whole run: once for bands of the source's full width; narrower ones read
/// their halos and partly used blocks again.
std::int64_t bytes_read(const PlanProblem& problem, Extent band) {
  const ImageSpec& source = problem.specs.front();
  if (!problem.source.layout().streams) return source.bytes();
  const Extent result = problem.specs.back().extent;
  // Parts of the result that are computed from top to bottom of the source: columns of bands, rows of them in
  // a turned result, cut where an item ends.
  const BandCut rows = problem.turned ? BandCut{result.rows, problem.item.rows, band.rows}
                                      : BandCut{result.rows, result.rows, result.rows};
  const BandCut cols = problem.turned
                           ? BandCut{result.cols, problem.item.cols, std::max(band.cols, problem.item.cols)}
                           : BandCut{result.cols, result.cols, band.cols};
  const std::int64_t pixels = sum_decoded(problem, rows.count() * cols.count(), [&](std::int64_t index) {
    const std::int64_t row = index / cols.count();
    const std::int64_t col = index % cols.count();
    return Rect{rows.begin(row), cols.begin(col), rows.size(row), cols.size(col)};
  });
  return pixels * source.pixel_bytes();
}

/// What it costs to read or write an image's file in pieces of so many bytes; each as `each` bytes moved.
double file_pieces_bytes(const ImageSpec& image, std::int64_t piece_bytes, double each) {
  return static_cast<double>(image.bytes()) / static_cast<double>(std::min(piece_bytes, kLongFilePiece)) *
         each;
}

/// What short pieces of one side cost that is no page-locked memory beside a GPU, as so many bytes moved:
/// `cols` of each row of the image; each as `of_file` unless it is memory.
double piece_bytes(const ImageSpec& image, std::int64_t cols, bool is_memory, double of_file) {
  if (cols >= image.extent.cols) return 0;
  const std::int64_t bytes = cols * image.pixel_bytes();
  if (is_memory) return static_cast<double>(image.bytes()) / static_cast<double>(bytes) * kMemoryPieceBytes;
  return file_pieces_bytes(image, bytes, of_file);
}

/// What parts of tiles cost of which bands hold `rows`; each as `each` bytes.
template <class Layout>
double tile_piece_bytes(const ImageSpec& image, const Layout& layout, std::int64_t rows, double each) {
  if (!layout.cuts_blocks || rows >= image.extent.rows || rows % layout.block.rows == 0) return 0;
  return file_pieces_bytes(image, std::min(rows, layout.block.rows) * layout.block.cols * image.pixel_bytes(),
                           each);
}

/// What copies of `cols` of each row cost over the bus beyond their bytes, as so many bytes moved one way.
double copied_rows_bytes(const ImageSpec& image, std::int64_t cols, bool upload) {
  if (cols >= image.extent.cols) return 0;
  const std::int64_t bytes = cols * image.pixel_bytes();
  const double gaps = std::min(1.0, static_cast<double>(image.row_bytes()) / kBusRowPitch);
  const double each = upload && bytes >= kLongUploadedRow ? kLongUploadedRowBytes : kBusRowBytes;
  return static_cast<double>(image.bytes()) / static_cast<double>(bytes) * each * gaps * gaps;
}

/// The same when a kernel stores them.
double stored_rows_bytes(const ImageSpec& image, std::int64_t cols) {
  const auto row_bytes = static_cast<double>(cols * image.pixel_bytes());
  return static_cast<double>(image.bytes()) * (kStoredByte + kStoredRowBytes / row_bytes);
}

/// Sets what short pieces cost on both sides: parts of tiles, and where bands are blocks or columns, because
/// a turned result is made or whole columns are needed, rows of a band that is not as wide as its file.
void set_pieces(const PlanProblem& problem, BandTraffic& traffic) {
  const ImageSpec& source = problem.specs.front();
  const ImageSpec& result = problem.specs.back();
  const std::int64_t source_rows = problem.turned ? traffic.band.cols : traffic.band.rows;
  const double tile_bytes =
      tile_piece_bytes(source, problem.source.layout(), source_rows, kReadTileBytes) +
      tile_piece_bytes(result, problem.sink.layout(), traffic.band.rows, kWrittenTileBytes);
  traffic.piece_bytes += tile_bytes * (problem.devices > 0 ? kBusFactor : 1);
  if (!problem.turned && !problem.whole_columns) return;
  const std::int64_t source_cols =
      source_rect(problem.chain, problem.specs, problem.middle(traffic.band)).cols;
  const std::int64_t result_cols = traffic.band.cols;
  const bool from_bus = problem.devices > 0 && problem.source.is_page_locked();
  const bool to_bus = problem.devices > 0 && problem.sink.is_page_locked();
  double up = 0;
  double down = 0;
  if (from_bus) {
    up = copied_rows_bytes(source, source_cols, true);
  } else if (problem.source.layout().block.cols == 1) {
    traffic.piece_bytes += piece_bytes(source, source_cols, problem.source.is_page_locked(), kReadPieceBytes);
  }
  if (to_bus) {
    const double stored = stored_rows_bytes(result, result_cols) + up;
    down = copied_rows_bytes(result, result_cols, false);
    traffic.stores_rows = stored < std::max(up, down);
    if (traffic.stores_rows) down = stored;
  } else if (problem.sink.layout().block.cols == 1) {
    traffic.piece_bytes +=
        piece_bytes(result, result_cols, problem.sink.is_page_locked(), kWrittenPieceBytes);
  }
  // Both ways at once: the slower one counts, and what moves beside it for as long.
  traffic.piece_bytes += from_bus && to_bus ? 2 * std::max(up, down) : up + down;
}

double overlap_factor(int slots) { return slots == 1 ? kNoOverlap : slots == 2 ? kSomeOverlap : 1.0; }

}  // namespace

Extent choose_tile(const PlanProblem& problem, Extent band, int threads, Extent forced) {
  if (!forced.empty()) return {std::min(forced.rows, band.rows), std::min(forced.cols, band.cols)};
  Extent best = band;
  double best_work = std::numeric_limits<double>::infinity();
  // An item that is a column is not cut: it is made of rows of the source.
  const std::int64_t least_rows = problem.turned && problem.item.cols == 1 ? band.rows : 8;
  for (std::int64_t rows = band.rows; rows >= 1; rows = rows > 1 ? ceil_div(rows, 2) : 0) {
    for (std::int64_t cols = band.cols; cols >= 1;) {
      const std::int64_t scratch =
          tile_scratch_bytes(problem.chain, problem.specs, {rows, cols}, problem.arithmetic);
      const double work =
          band_work(problem, band, {rows, cols}, threads) * scratch_factor(scratch, problem.max_arena_bytes);
      if (work < best_work) best = {rows, cols}, best_work = work;
      if (cols <= 64) break;
      // From the full width down to the next powers of two.
      std::int64_t power = 64;
      while (power * 2 < cols) power *= 2;
      cols = power;
    }
    if (rows <= least_rows) break;
  }
  return best;
}

BandTraffic traffic_of(const PlanProblem& problem, Extent band) {
  BandTraffic traffic{band, bytes_read(problem, band)};
  set_pieces(problem, traffic);
  return traffic;
}

Cut evaluate(const PlanProblem& problem, const BandTraffic& traffic, Extent tile, int slots, int threads) {
  const ImageSpec& result = problem.specs.back();
  const Extent band = traffic.band;
  Cut cut;
  cut.band = band;
  cut.slots = slots;
  cut.threads = threads;
  cut.tile = tile;
  set_sizes(problem, cut, Places::few);
  cut.bytes_read = traffic.bytes_read;
  const double bands = ceil_ratio(result.extent.rows, band.rows) * ceil_ratio(result.extent.cols, band.cols);
  const double tiles = ceil_ratio(band.rows, cut.tile.rows) * ceil_ratio(band.cols, cut.tile.cols);
  // Edge tiles are smaller than the others: count by area, not by number.
  const double share =
      static_cast<double>(result.extent.area()) / (bands * tiles * static_cast<double>(cut.tile.area()));
  cut.operations =
      tile_operations(problem.chain, problem.specs, cut.tile) * bands * tiles * std::min(1.0, share);
  double moved = static_cast<double>(cut.bytes_read + result.bytes()) + traffic.piece_bytes;
  if (problem.whole_columns)
    moved += static_cast<double>(cut.slot_input_bytes + cut.slot_output_bytes);  // as below
  const double work =
      band_work(problem, band, cut.tile, threads) * (cut.arena_bytes > kCacheBytes ? kOutOfCache : 1.0);
  const bool exposes = slots > 1 && !problem.turned && !problem.whole_columns;
  const double exposed = exposes ? kFirstAndLast / ceil_ratio(result.extent.rows, band.rows) : 0;
  cut.cost = (bands * work * threads + kByteMoved * moved) * overlap_factor(slots) * (1 + exposed) / threads +
             bands * kBandOverhead;
  return cut;
}

Cut evaluate_on_devices(const PlanProblem& problem, const BandTraffic& traffic, int slots, int threads) {
  const ImageSpec& result = problem.specs.back();
  const Extent band = traffic.band;
  Cut cut;
  cut.band = band;
  cut.tile = band;
  cut.slots = slots;
  cut.threads = threads;
  set_sizes(problem, cut, Places::few);
  cut.bytes_read = traffic.bytes_read;
  cut.stores_rows = traffic.stores_rows;
  const double bands = ceil_ratio(result.extent.rows, band.rows) * ceil_ratio(result.extent.cols, band.cols);
  const double share = static_cast<double>(result.extent.area()) / (bands * static_cast<double>(band.area()));
  cut.operations = tile_operations(problem.chain, problem.specs, band) * bands * std::min(1.0, share);
  double moved = static_cast<double>(cut.bytes_read + result.bytes()) + traffic.piece_bytes;
  // The first upload and the last download, which nothing hides; upright bands have a size that minds it
  // (plan_candidates.cpp).
  if (problem.turned || problem.whole_columns)
    moved += static_cast<double>(cut.slot_input_bytes + cut.slot_output_bytes);
  const std::int64_t elements = band.area() * result.channels;
  const bool is_small = problem.sum_length > 0 && elements < kDeviceProductElements;
  const double idle =
      is_small ? static_cast<double>(kDeviceProductElements) / static_cast<double>(elements) : 1;
  cut.cost = (cut.operations * kDeviceOperation * idle + moved * kBusByte + bands * kDeviceBand) *
             overlap_factor(slots);
  return cut;
}

}  // namespace sepconv
