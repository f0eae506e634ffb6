#include "sepconv/pipeline/gemm/gemm_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "sepconv/core/error.hpp"
#include "sepconv/core/view_check.hpp"
#include "sepconv/pipeline/gemm/gemm_memory.hpp"
#include "sepconv/pipeline/plan/ceilings.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kAlignedSide = 128;  // sides of tiles and panels that the libraries like
constexpr std::int64_t kLeastSide = 64;
constexpr std::int64_t kStripBytes = 16 << 20;
constexpr std::int64_t kStepBytes = 512;  // of the lists of steps, and of what the timeline records of one
constexpr double kStepSeconds = 40e-6;    // threads and streams waiting for each other
constexpr double kReadPieceBytes = 512;   // a piece of a row of a file costs as much as reading so many bytes
constexpr double kMostBytes = 0x1p62;
constexpr double kMostStepOperations = 1e13;  // of a GPU: a stop waits for a step
// What rates candidates are ranked by, in seconds. Measured on an H200 and on two cores of an AVX-512
// processor.
struct Rates {
  double operation;  ///< a multiply-add
  double moved;      ///< a byte read or uploaded
  double touched;    ///< a byte of the tile, read or written once more for every panel
};
constexpr double kEdge = 16;  // a side costs as much more: the libraries work in blocks
constexpr double kBlockedEdge = 32;
constexpr std::int64_t kDeviceBlock = 128;  // side of what a multiprocessor sums without tensor cores
constexpr double kPageLockRate = 10e9;      // bytes a second that are allocated and page-locked
constexpr double kBusRate = 53e9;           // bytes a second each way
constexpr double kReadShare = 0.1;          // of the time of reading counts even if it is hidden
constexpr double kBusGapBytes =
    6.6e3;  // a gap after a row that goes over the bus while kernels run costs as much as so many bytes
constexpr double kShortRowFactor = 2.8;  // of short rows, which a kernel copies when products leave it room
constexpr double kStagedFactor = 1.05;   // the host's memory moves the bytes twice more
constexpr double kStagingRate = 6e9;     // bytes a second that a thread gathers
constexpr std::int64_t kMostStagedBytes = 1 << 29;  // of a file that need not be staged

Rates rates_of(const GemmPlan& plan) {
  const bool wide = plan.type == PixelType::f64;
  if (!plan.devices.empty())
    return {1 / (wide ? 28.5e12 : 25.5e12), 1 / kBusRate, 1 / (wide ? 3.2e12 : 1.4e12)};
  return {1 / ((wide ? 20e9 : 40e9) * plan.threads), 1 / 2e9, 1 / 20e9};
}

/// What reading a panel takes beyond its bytes.
double read_factor(const ImageSpec& stored, Extent panel, const SourceLayout& layout) {
  const bool in_pieces = layout.block.cols == 1 && panel.cols < stored.extent.cols;
  const double pieces =
      in_pieces ? kReadPieceBytes / static_cast<double>(panel.cols * stored.pixel_bytes()) : 0;
  const auto decoded = [](std::int64_t side, std::int64_t block, std::int64_t whole) {
    return static_cast<double>(std::min(round_up(side, block), whole)) / static_cast<double>(side);
  };
  return decoded(panel.rows, layout.unit().rows, stored.extent.rows) *
             decoded(panel.cols, layout.unit().cols, stored.extent.cols) +
         pieces;
}

/// The same of a panel that goes over the bus from where it lies, and of one that threads gather first.
double bus_factor(const ImageSpec& stored, Extent panel) {
  if (panel.cols == stored.extent.cols) return 1;
  const std::int64_t row_bytes = panel.cols * stored.pixel_bytes();
  return row_bytes < kLongBusRow ? kShortRowFactor : 1 + kBusGapBytes / static_cast<double>(row_bytes);
}
double staged_factor(int threads) { return std::max(kStagedFactor, kBusRate / (kStagingRate * threads)); }

struct Problem {
  const Reader& a;
  const Reader& b;
  const Reader* added;
  const Writer& out;
  int multiprocessors;  // of the GPU, if any
};

int multiprocessors_of(const std::vector<int>& devices) {
  if (devices.empty()) return 0;
  const std::vector<DeviceInfo> found = cuda_devices();
  const auto device = std::ranges::find(found, devices.front(), &DeviceInfo::index);
  return device != found.end() ? std::max(1, device->multiprocessors) : 1;
}

/// About as many as gemm_steps() makes.
double step_count(const GemmPlan& plan) {
  const auto parts = [](std::int64_t length, std::int64_t part) {
    return static_cast<double>(ceil_div(length, part));
  };
  const double tall = parts(plan.shape.m, plan.rows), wide = parts(plan.shape.n, plan.cols),
               deep = parts(plan.shape.k, plan.depth);
  return plan.keeps_b ? wide * (deep + (tall - 1) * parts(plan.shape.k, plan.a_depth())) : wide * tall * deep;
}

/// Whether the bytes of panels and tiles can be counted at all.
bool is_countable(const GemmPlan& plan) {
  const auto rows = static_cast<double>(plan.rows), cols = static_cast<double>(plan.cols),
             k = static_cast<double>(plan.shape.k);
  return step_count(plan) < 1e12 && (plan.slots * (rows + cols) * k + plan.tiles * rows * cols) *
                                            static_cast<double>(plan.element_bytes()) <
                                        kMostBytes;
}

/// Memory that a plan holds where it computes.
std::int64_t working_bytes(const GemmPlan& plan) {
  const std::int64_t a = plan.slots * plan.rows * plan.a_depth();
  const std::int64_t b = plan.keeps_b ? plan.shape.k * plan.cols : plan.slots * plan.depth * plan.cols;
  return (a + b + plan.tiles * plan.rows * plan.cols) * plan.element_bytes();
}

void set_memory(const Problem& problem, GemmPlan& plan) {
  plan.memory = {.slots = working_bytes(plan),
                 .scratch = plan.threads * kBlasBytesPerThread +
                            static_cast<std::int64_t>(step_count(plan)) * kStepBytes,
                 .source = problem.a.buffer_bytes(plan.threads) + problem.b.buffer_bytes(plan.threads) +
                           (problem.added != nullptr ? problem.added->buffer_bytes(plan.threads) : 0),
                 .sink = problem.out.buffer_bytes(plan.threads)};
  plan.device_memory = {};
  if (plan.devices.empty()) return;
  plan.device_memory.slots = plan.memory.slots;
  const std::int64_t row_bytes = plan.cols * plan.element_bytes();
  plan.strip_rows =
      std::min(round_up(std::max<std::int64_t>(1, kStripBytes / row_bytes), plan.row_unit), plan.rows);
  plan.memory.scratch -= plan.threads * kBlasBytesPerThread;
  plan.memory.slots = 0;
  if (plan.stages_a) plan.memory.slots += plan.slots * plan.rows * plan.a_depth() * plan.element_bytes();
  if (plan.stages_b) plan.memory.slots += plan.slots * plan.depth * row_bytes;
  if (!problem.out.is_page_locked()) plan.memory.slots += kStripsInFlight * plan.strip_rows * row_bytes;
  if (problem.added != nullptr && !problem.added->is_page_locked())
    plan.memory.slots += kStripsInFlight * plan.strip_rows * row_bytes;
}

Extent stored_extent(bool transposed, std::int64_t rows, std::int64_t cols) {
  return transposed ? Extent{cols, rows} : Extent{rows, cols};
}
Extent a_panel(const GemmPlan& plan, std::int64_t depth) {
  return stored_extent(plan.op.trans_a, plan.rows, depth);
}
Extent b_panel(const GemmPlan& plan) { return stored_extent(plan.op.trans_b, plan.depth, plan.cols); }

/// Files that are not page-locked memory themselves have to be staged, and panels of short rows are if
/// threads do that faster than the bus moves them. Whether something is that need not be.
bool choose_staging(const Problem& problem, bool may_stage, GemmPlan& plan) {
  if (plan.devices.empty()) return false;
  const auto pays = [&](const Reader& file, Extent panel) {
    return may_stage && plan.slots * panel.area() * plan.element_bytes() <= kMostStagedBytes &&
           staged_factor(plan.threads) < bus_factor(file.spec(), panel);
  };
  const bool has_gaps_on_device = plan.keeps_b && plan.op.trans_b;  // so that gathering them brings nothing
  const bool gathers_a = problem.a.is_page_locked() && pays(problem.a, a_panel(plan, plan.a_depth()));
  const bool gathers_b = problem.b.is_page_locked() && !has_gaps_on_device && pays(problem.b, b_panel(plan));
  plan.stages_a = gathers_a || !problem.a.is_page_locked();
  plan.stages_b = gathers_b || !problem.b.is_page_locked();
  return gathers_a || gathers_b;
}

/// What reading and uploading a panel takes beyond its bytes at the bus's rate, or on the CPU beyond its
/// bytes at the rate of reading.
double panel_factor(const GemmPlan& plan, const Reader& file, Extent panel, bool is_staged) {
  if (plan.devices.empty()) return read_factor(file.spec(), panel, file.layout());
  if (!file.is_page_locked())
    return staged_factor(plan.threads) * read_factor(file.spec(), panel, file.layout());
  return is_staged ? staged_factor(plan.threads) : bus_factor(file.spec(), panel);
}

/// Elements that a tile costs as much as: the libraries work in blocks. cuBLAS gives whole ones to
/// multiprocessors where it has no tensor cores to use, and the others wait for those with one more.
double computed_elements(const Problem& problem, const GemmPlan& plan) {
  const auto rows = static_cast<double>(plan.rows), cols = static_cast<double>(plan.cols);
  const double edge = plan.devices.empty() || plan.type == PixelType::f64 ? kEdge : kBlockedEdge;
  const double elements = (rows + edge) * (cols + edge);
  if (plan.devices.empty() || plan.type == PixelType::f64) return elements;
  const auto blocks =
      static_cast<double>(ceil_div(plan.rows, kDeviceBlock) * ceil_div(plan.cols, kDeviceBlock));
  return elements * std::ceil(blocks / problem.multiprocessors) * problem.multiprocessors / blocks;
}

/// Estimated seconds, which only rank.
double seconds_of(const Problem& problem, const GemmPlan& plan) {
  const Rates rates = rates_of(plan);
  const GemmShape& shape = plan.shape;
  const auto size = static_cast<double>(plan.element_bytes());
  const auto rows = static_cast<double>(plan.rows), cols = static_cast<double>(plan.cols),
             k = static_cast<double>(shape.k);
  const double tall = std::max(1.0, static_cast<double>(shape.m) / rows),
               wide = std::max(1.0, static_cast<double>(shape.n) / cols);
  const auto a_seconds = [&](std::int64_t depth) {
    return rows * k * size * rates.moved * panel_factor(plan, problem.a, a_panel(plan, depth), plan.stages_a);
  };
  const double a = a_seconds(plan.a_depth()),
               first_a = a_seconds(plan.depth);  // where panels of op(B) come too
  const double b =
      cols * k * size * rates.moved * panel_factor(plan, problem.b, b_panel(plan), plan.stages_b);
  const double tile = rows * cols * size;
  const double left = tile * rates.moved;
  const auto tile_seconds = [&](double moved, std::int64_t depth) {
    const double computed = computed_elements(problem, plan) * k * rates.operation +
                            std::ceil(k / static_cast<double>(depth)) * tile * rates.touched;
    if (plan.slots == 1) return computed + moved + left;
    return plan.tiles == 1 ? std::max(computed, moved) + left : std::max({computed, moved, left});
  };
  const double sum =
      plan.keeps_b
          ? wide * (tile_seconds(first_a + b, plan.depth) + (tall - 1) * tile_seconds(a, plan.a_depth()))
          : wide * tall * tile_seconds(first_a + b, plan.depth);
  const double read = plan.keeps_b ? wide * (b + tall * a) : wide * tall * (first_a + b);
  const double page_locked =
      plan.devices.empty() ? 0 : static_cast<double>(plan.memory.slots) / kPageLockRate;
  // What nothing hides: the first panels, and the last tile, which is cut into ever lower ones where that
  // costs no second reading.
  const double ends =
      (first_a + b) * static_cast<double>(plan.first_depth()) / k + (plan.keeps_b ? left / 8 : left);
  // Of plans that take as long the one that reads least, which leaves most to others.
  return sum + step_count(plan) * kStepSeconds + kReadShare * read + page_locked + ends;
}

/// Lengths of a side to try: the whole, halves, thirds and so on, multiples of `unit`.
std::vector<std::int64_t> sides(std::int64_t length, std::int64_t unit) {
  const std::int64_t aligned = std::lcm(unit, kAlignedSide);
  std::vector<std::int64_t> found;
  for (std::int64_t parts = 1;; parts += std::max<std::int64_t>(1, parts / 3)) {
    const std::int64_t wanted = ceil_div(length, parts);
    const std::int64_t side = std::min(round_up(wanted, wanted >= aligned ? aligned : unit), length);
    if (found.empty() || side < found.back()) found.push_back(side);
    if (side <= std::max(unit, kLeastSide)) return found;
  }
}

std::vector<std::int64_t> depths(std::int64_t k) {
  std::vector<std::int64_t> found{k};
  for (std::int64_t depth = std::int64_t{1} << 26; depth >= 16; depth /= 2) {
    if (depth < k) found.push_back(depth);
  }
  return found;
}

Ceilings ceilings_of(const GemmPlan& plan) { return {plan.max_memory_bytes, plan.max_device_memory_bytes}; }

struct Search {
  std::optional<GemmPlan> best;
  double best_seconds = std::numeric_limits<double>::infinity();
  LeastMemory least;

  void offer(const Problem& problem, GemmPlan& plan) {
    if (!is_countable(plan)) return;
    const double tile = static_cast<double>(plan.rows) * static_cast<double>(plan.cols);
    plan.whole_a = !plan.devices.empty() && problem.a.is_page_locked() &&
                   tile * static_cast<double>(plan.shape.k) <= kMostStepOperations;
    if (!plan.devices.empty() && tile * static_cast<double>(plan.depth) > kMostStepOperations) return;
    for (const bool may_stage : {true, false}) {
      if (!choose_staging(problem, may_stage, plan) && may_stage) continue;
      set_memory(problem, plan);
      if (!least.fits(plan.memory, plan.device_memory, ceilings_of(plan))) continue;
      const double seconds = seconds_of(problem, plan);
      if (seconds < best_seconds) best = plan, best_seconds = seconds;
    }
  }
};

Search search(const Problem& problem, GemmPlan plan, const PlanOptions& options) {
  const Extent block = problem.out.layout().block;
  const bool whole_rows = problem.out.layout().access == Access::sequential;
  const auto tried = [](std::int64_t forced, std::int64_t length, std::int64_t unit) {
    return forced > 0 ? std::vector<std::int64_t>{std::min(round_up(forced, unit), length)}
                      : sides(length, unit);
  };
  const auto all_rows = tried(options.band_rows, plan.shape.m, std::min(plan.row_unit, plan.shape.m));
  auto all_cols =
      tried(options.band_cols, plan.shape.n, std::clamp<std::int64_t>(block.cols, 1, plan.shape.n));
  if (whole_rows) all_cols = {plan.shape.n};
  Search found;
  for (const bool keeps_b : {true, false}) {
    for (const int slots :
         options.slots > 0 ? std::vector<int>{options.slots} : std::vector<int>{kPreferredSlots, 2, 1}) {
      for (const int tiles : {2, 1}) {
        for (const std::int64_t rows : all_rows) {
          for (const std::int64_t cols : all_cols) {
            for (const std::int64_t depth : depths(plan.shape.k)) {
              plan.keeps_b = keeps_b, plan.slots = slots, plan.tiles = tiles;
              plan.rows = rows, plan.cols = cols, plan.depth = depth;
              found.offer(problem, plan);
            }
          }
        }
      }
    }
  }
  return found;
}

void check_access(const Reader* reader, const char* name) {
  if (reader != nullptr && reader->layout().access == Access::sequential)
    throw InvalidArgument(
        fmt::format("{} can only be read from top to bottom, and a product takes parts of it in any order; "
                    "give NPY, raw or TIFF",
                    name));
}

/// Bytes that must move between a memory of so many bytes and the matrices, in any order of work: 2 m n k /
/// sqrt(S) - 2 S for S elements (Smith, Lowery, Langou and van de Geijn, "A tight I/O lower bound for matrix
/// multiplication", 2019), and each matrix once.
double least_bytes(const GemmPlan& plan, const Reader* added) {
  const auto size = static_cast<double>(plan.element_bytes());
  const auto m = static_cast<double>(plan.shape.m), n = static_cast<double>(plan.shape.n),
             k = static_cast<double>(plan.shape.k);
  const double memory =
      static_cast<double>(plan.devices.empty() ? plan.max_memory_bytes : plan.max_device_memory_bytes) / size;
  const double once = m * k + k * n + (added != nullptr ? 2 : 1) * m * n;
  return size * std::max(once, 2 * m * n * k / std::sqrt(memory) - 2 * memory);
}

}  // namespace

ImageSpec gemm_result_spec(const GemmOp& op, const ImageSpec& a, const ImageSpec& b) {
  const GemmShape shape = gemm_shape(op, a, b);
  return {{shape.m, shape.n}, 1, a.type};
}

GemmPlan plan_gemm(const GemmOp& op, const Reader& a, const Reader& b, const Reader* added, const Writer& out,
                   const PlanOptions& options) {
  check_options(options);
  GemmPlan plan;
  plan.asked = options;
  plan.op = op;
  plan.shape = gemm_shape(op, a.spec(), b.spec(), out.spec());
  check_image("the matrix A", a.spec()), check_image("the matrix B", b.spec());
  if (added != nullptr) gemm_shape(op, a.spec(), b.spec(), added->spec());
  if (added == nullptr && op.beta != 0)
    throw InvalidArgument("beta multiplies a matrix that was not given; give it, or leave beta out");
  check_access(&a, "A"), check_access(&b, "B"), check_access(added, "C");
  plan.type = a.spec().type;
  plan.threads = threads_of(options);
  plan.max_memory_bytes = memory_ceiling(options);
  if (!options.devices.empty()) plan.devices = {options.devices.front()};
  plan.max_device_memory_bytes = device_memory_ceiling(plan.devices, options);
  const Problem problem{a, b, op.beta != 0 ? added : nullptr, out, multiprocessors_of(plan.devices)};
  plan.row_unit = std::max<std::int64_t>(
      1, out.layout().block.rows);  // whole tiles, even where they may be cut: parts are written slower
  for (;; plan.threads /= 2) {      // fewer hold less scratch
    const Search found = search(problem, plan, options);
    if (found.best) {
      plan = *found.best;
      break;
    }
    if (plan.threads == 1) found.least.fail(ceilings_of(plan), "product");
  }
  for (const GemmStep& step : gemm_steps(plan)) {
    plan.bytes_read += (step.result.rows * step.depth + (step.loads_b ? step.result.cols * step.depth : 0)) *
                       plan.element_bytes();
    if (step.first && problem.added != nullptr) plan.bytes_read += step.result.area() * plan.element_bytes();
  }
  plan.bytes_written = plan.result().bytes();
  const auto add_warnings = [&plan](const std::vector<std::string>& said) {
    plan.warnings.insert(plan.warnings.end(), said.begin(), said.end());
  };
  for (const Reader* const source : {&a, &b, problem.added}) {
    if (source != nullptr) add_warnings(source->layout().warnings);
  }
  add_warnings(out.layout().warnings);
  plan.least_bytes = least_bytes(plan, problem.added);
  return plan;
}

}  // namespace sepconv
