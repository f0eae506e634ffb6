#include "pipeline/gemm/gemm_cost.hpp"

#include <algorithm>
#include <cmath>

#include "pipeline/gemm/gemm_memory.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kStripBytes = 16 << 20;
constexpr std::int64_t kStepBytes = 512;  // per step: its list entries and its timeline spans
constexpr double kMaxBytes = 0x1p62;
constexpr double kReadWeight = 0.1;                // fraction of the read time that counts even if hidden
constexpr std::int64_t kMaxStagedBytes = 1 << 29;  // of a page-locked matrix

/// Costs that candidate plans are ranked by, in seconds.
struct Rates {
  double per_multiply_add;  ///< a multiply-add
  double per_byte_moved;    ///< a byte read or uploaded
  double per_byte_touched;  ///< a byte of the tile, read and written again for every panel
};

Rates rates_of(const MachineModel& machine, const GemmPlan& plan) {
  const GemmModel& products = machine.products;
  const bool wide = plan.type == PixelType::f64;
  if (!plan.devices.empty())
    return {1 / (wide ? products.device_fma_f64_rate : products.device_fma_f32_rate),
            1 / machine.bus.one_way_rate,
            1 / (wide ? products.device_touch_f64_rate : products.device_touch_f32_rate)};
  return {1 / ((wide ? products.host_fma_f64_rate : products.host_fma_f32_rate) * plan.threads),
          1 / products.host_read_rate, 1 / products.host_touch_rate};
}

/// Cost of reading a panel relative to reading its bytes alone.
double read_factor(const FileModel& files, const Reader& file, Extent panel) {
  const ImageSpec& stored = file.spec();
  const SourceLayout& layout = file.layout();
  const bool in_pieces = layout.block.cols == 1 && panel.cols < stored.extent.cols;
  const double pieces = in_pieces ? static_cast<double>(files.read_piece_bytes) /
                                        static_cast<double>(panel.cols * stored.pixel_bytes())
                                  : 0;
  const auto decoded = [](std::int64_t side, std::int64_t block, std::int64_t whole) {
    return static_cast<double>(std::min(round_up(side, block), whole)) / static_cast<double>(side);
  };
  return decoded(panel.rows, layout.unit().rows, stored.extent.rows) *
             decoded(panel.cols, layout.unit().cols, stored.extent.cols) +
         pieces;
}

/// The same for a panel that is uploaded directly, and for one that threads gather first.
double bus_factor(const BusModel& bus, const ImageSpec& stored, Extent panel) {
  if (panel.cols == stored.extent.cols) return 1;
  const std::int64_t row_bytes = panel.cols * stored.pixel_bytes();
  return row_bytes < kLongBusRow ? bus.kernel_copy
                                 : 1 + bus.gap_seconds * bus.one_way_rate / static_cast<double>(row_bytes);
}
double staged_factor(const BusModel& bus, int threads) {
  return std::max(bus.staged, bus.one_way_rate / (bus.staging_rate * threads));
}

/// Approximate number of steps that gemm_steps() returns.
double step_count(const GemmPlan& plan) {
  const auto parts = [](std::int64_t length, std::int64_t part) {
    return static_cast<double>(ceil_div(length, part));
  };
  const double tall = parts(plan.shape.m, plan.rows), wide = parts(plan.shape.n, plan.cols),
               deep = parts(plan.shape.k, plan.depth);
  return plan.keeps_b ? wide * (deep + (tall - 1) * parts(plan.shape.k, plan.a_depth())) : wide * tall * deep;
}

/// Bytes of panels and tiles in the memory of the computing device (CPU or GPU).
std::int64_t working_bytes(const GemmPlan& plan) {
  const std::int64_t a = plan.slots * plan.rows * plan.a_depth();
  const std::int64_t b = plan.keeps_b ? plan.shape.k * plan.cols : plan.slots * plan.depth * plan.cols;
  return (a + b + plan.tiles * plan.rows * plan.cols) * plan.element_bytes();
}

Extent stored_extent(bool transposed, std::int64_t rows, std::int64_t cols) {
  return transposed ? Extent{cols, rows} : Extent{rows, cols};
}
Extent a_panel(const GemmPlan& plan, std::int64_t depth) {
  return stored_extent(plan.op.trans_a, plan.rows, depth);
}
Extent b_panel(const GemmPlan& plan) { return stored_extent(plan.op.trans_b, plan.depth, plan.cols); }

/// Cost of reading and uploading a panel relative to its bytes at the bus rate; on the CPU, relative to its
/// bytes at the read rate.
double panel_factor(const MachineModel& machine, const GemmPlan& plan, const Reader& file, Extent panel,
                    bool is_staged) {
  if (plan.devices.empty()) return read_factor(machine.files, file, panel);
  const double staged = staged_factor(machine.bus, plan.threads);
  if (!file.is_page_locked()) return staged * read_factor(machine.files, file, panel);
  return is_staged ? staged : bus_factor(machine.bus, file.spec(), panel);
}

/// Effective elements of a tile: the libraries compute in blocks. Without tensor cores cuBLAS assigns whole
/// blocks to multiprocessors, and those with fewer blocks wait for those with more.
double computed_elements(const GemmProblem& problem, const GemmPlan& plan) {
  const auto rows = static_cast<double>(plan.rows), cols = static_cast<double>(plan.cols);
  const GemmModel& products = problem.machine.products;
  const bool blocked = !plan.devices.empty() && plan.type != PixelType::f64;
  const double edge = blocked ? products.blocked_edge : products.edge;
  const double elements = (rows + edge) * (cols + edge);
  if (!blocked) return elements;
  const auto blocks = static_cast<double>(ceil_div(plan.rows, products.device_block) *
                                          ceil_div(plan.cols, products.device_block));
  return elements * std::ceil(blocks / problem.multiprocessors) * problem.multiprocessors / blocks;
}

}  // namespace

bool is_countable(const GemmPlan& plan) {
  const auto rows = static_cast<double>(plan.rows), cols = static_cast<double>(plan.cols),
             k = static_cast<double>(plan.shape.k);
  return step_count(plan) < 1e12 && (plan.slots * (rows + cols) * k + plan.tiles * rows * cols) *
                                            static_cast<double>(plan.element_bytes()) <
                                        kMaxBytes;
}

void set_memory(const GemmProblem& problem, GemmPlan& plan) {
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

bool choose_staging(const GemmProblem& problem, bool may_stage, GemmPlan& plan) {
  if (plan.devices.empty()) return false;
  const BusModel& bus = problem.machine.bus;
  const auto is_worthwhile = [&](const Reader& file, Extent panel) {
    return may_stage && plan.slots * panel.area() * plan.element_bytes() <= kMaxStagedBytes &&
           staged_factor(bus, plan.threads) < bus_factor(bus, file.spec(), panel);
  };
  const bool has_gaps_on_device = plan.keeps_b && plan.op.trans_b;  // so gathering them saves nothing
  const bool gathers_a =
      problem.a.is_page_locked() && is_worthwhile(problem.a, a_panel(plan, plan.a_depth()));
  const bool gathers_b =
      problem.b.is_page_locked() && !has_gaps_on_device && is_worthwhile(problem.b, b_panel(plan));
  plan.stages_a = gathers_a || !problem.a.is_page_locked();
  plan.stages_b = gathers_b || !problem.b.is_page_locked();
  return gathers_a || gathers_b;
}

double gemm_seconds(const GemmProblem& problem, const GemmPlan& plan) {
  const Rates rates = rates_of(problem.machine, plan);
  const GemmShape& shape = plan.shape;
  const auto size = static_cast<double>(plan.element_bytes());
  const auto rows = static_cast<double>(plan.rows), cols = static_cast<double>(plan.cols),
             k = static_cast<double>(shape.k);
  const double tall = std::max(1.0, static_cast<double>(shape.m) / rows),
               wide = std::max(1.0, static_cast<double>(shape.n) / cols);
  const auto a_seconds = [&](std::int64_t depth) {
    return rows * k * size * rates.per_byte_moved *
           panel_factor(problem.machine, plan, problem.a, a_panel(plan, depth), plan.stages_a);
  };
  const double a = a_seconds(plan.a_depth()),
               first_a = a_seconds(plan.depth);  // for steps that also load panels of op(B)
  const double b = cols * k * size * rates.per_byte_moved *
                   panel_factor(problem.machine, plan, problem.b, b_panel(plan), plan.stages_b);
  const double tile = rows * cols * size;
  const double download = tile * rates.per_byte_moved;
  const auto tile_seconds = [&](double per_byte_moved, std::int64_t depth) {
    const double computed = computed_elements(problem, plan) * k * rates.per_multiply_add +
                            std::ceil(k / static_cast<double>(depth)) * tile * rates.per_byte_touched;
    if (plan.slots == 1) return computed + per_byte_moved + download;
    return plan.tiles == 1 ? std::max(computed, per_byte_moved) + download
                           : std::max({computed, per_byte_moved, download});
  };
  const double sum =
      plan.keeps_b
          ? wide * (tile_seconds(first_a + b, plan.depth) + (tall - 1) * tile_seconds(a, plan.a_depth()))
          : wide * tall * tile_seconds(first_a + b, plan.depth);
  const double read = plan.keeps_b ? wide * (b + tall * a) : wide * tall * (first_a + b);
  const double page_locked =
      plan.devices.empty() ? 0 : static_cast<double>(plan.memory.slots) / problem.machine.bus.page_lock_rate;
  // Not hidden: the first panels and the last tile. The last tile is divided into ever lower tiles if that
  // does not require reading op(B) again.
  const double ends =
      (first_a + b) * static_cast<double>(plan.first_depth()) / k + (plan.keeps_b ? download / 8 : download);
  // Among equally fast plans, prefer the one that reads least.
  return sum + step_count(plan) * problem.machine.products.step_seconds + kReadWeight * read + page_locked +
         ends;
}

Prediction predict(const GemmProblem& problem, const GemmPlan& plan) {
  const MachineModel& machine = problem.machine;
  const Rates rates = rates_of(machine, plan);
  const bool to_file = problem.out.layout().codec != kInMemory;
  const auto read = static_cast<double>(plan.bytes_read), written = static_cast<double>(plan.bytes_written);
  Prediction prediction;
  prediction.compute = plan.shape.operations() * rates.per_multiply_add;
  if (to_file) prediction.write = written / machine.files.write_rate;
  if (plan.devices.empty()) {
    prediction.read = read * rates.per_byte_moved;
  } else {
    prediction.upload = read * rates.per_byte_moved, prediction.download = written * rates.per_byte_moved;
    if (plan.stages_a || plan.stages_b)
      prediction.read = prediction.upload * staged_factor(machine.bus, plan.threads);
  }
  prediction.total = std::max(gemm_seconds(problem, plan), prediction.write);
  return prediction;
}

}  // namespace sepconv
