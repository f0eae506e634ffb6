#include "pipeline/gemm/gemm_cost.hpp"

#include <algorithm>
#include <cmath>

#include "pipeline/gemm/gemm_memory.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kStripBytes = 16 << 20;
constexpr std::int64_t kStepBytes = 512;  // of the lists of steps, and of what the timeline records of one
constexpr double kMaxBytes = 0x1p62;
constexpr double kReadShare = 0.1;                 // of the time of reading counts even if it is hidden
constexpr std::int64_t kMaxStagedBytes = 1 << 29;  // of a file that need not be staged

/// What candidates are ranked by, in seconds.
struct Rates {
  double operation;  ///< a multiply-add
  double moved;      ///< a byte read or uploaded
  double touched;    ///< a byte of the tile, read or written once more for every panel
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

/// What reading a panel takes beyond its bytes.
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

/// The same of a panel that goes over the bus from where it lies, and of one that threads gather first.
double bus_factor(const BusModel& bus, const ImageSpec& stored, Extent panel) {
  if (panel.cols == stored.extent.cols) return 1;
  const std::int64_t row_bytes = panel.cols * stored.pixel_bytes();
  return row_bytes < kLongBusRow ? bus.kernel_copy
                                 : 1 + bus.gap_seconds * bus.one_way_rate / static_cast<double>(row_bytes);
}
double staged_factor(const BusModel& bus, int threads) {
  return std::max(bus.staged, bus.one_way_rate / (bus.staging_rate * threads));
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

/// Memory that a plan holds where it computes.
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

/// What reading and uploading a panel takes beyond its bytes at the bus's rate, or on the CPU beyond its
/// bytes at the rate of reading.
double panel_factor(const MachineModel& machine, const GemmPlan& plan, const Reader& file, Extent panel,
                    bool is_staged) {
  if (plan.devices.empty()) return read_factor(machine.files, file, panel);
  const double staged = staged_factor(machine.bus, plan.threads);
  if (!file.is_page_locked()) return staged * read_factor(machine.files, file, panel);
  return is_staged ? staged : bus_factor(machine.bus, file.spec(), panel);
}

/// Elements that a tile costs as much as: the libraries work in blocks. cuBLAS gives whole ones to
/// multiprocessors where it has no tensor cores to use, and the others wait for those with one more.
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
  const auto pays = [&](const Reader& file, Extent panel) {
    return may_stage && plan.slots * panel.area() * plan.element_bytes() <= kMaxStagedBytes &&
           staged_factor(bus, plan.threads) < bus_factor(bus, file.spec(), panel);
  };
  const bool has_gaps_on_device = plan.keeps_b && plan.op.trans_b;  // so that gathering them brings nothing
  const bool gathers_a = problem.a.is_page_locked() && pays(problem.a, a_panel(plan, plan.a_depth()));
  const bool gathers_b = problem.b.is_page_locked() && !has_gaps_on_device && pays(problem.b, b_panel(plan));
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
    return rows * k * size * rates.moved *
           panel_factor(problem.machine, plan, problem.a, a_panel(plan, depth), plan.stages_a);
  };
  const double a = a_seconds(plan.a_depth()),
               first_a = a_seconds(plan.depth);  // where panels of op(B) come too
  const double b = cols * k * size * rates.moved *
                   panel_factor(problem.machine, plan, problem.b, b_panel(plan), plan.stages_b);
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
      plan.devices.empty() ? 0 : static_cast<double>(plan.memory.slots) / problem.machine.bus.page_lock_rate;
  // What nothing hides: the first panels, and the last tile, which is cut into ever lower ones where that
  // costs no second reading.
  const double ends =
      (first_a + b) * static_cast<double>(plan.first_depth()) / k + (plan.keeps_b ? left / 8 : left);
  // For plans that take as long the one that reads least, which leaves most to others.
  return sum + step_count(plan) * problem.machine.products.step_seconds + kReadShare * read + page_locked +
         ends;
}

Prediction predict(const GemmProblem& problem, const GemmPlan& plan) {
  const MachineModel& machine = problem.machine;
  const Rates rates = rates_of(machine, plan);
  const bool to_file = problem.out.layout().codec != kInMemory;
  const auto read = static_cast<double>(plan.bytes_read), written = static_cast<double>(plan.bytes_written);
  Prediction all;
  all.compute = plan.shape.operations() * rates.operation;
  if (to_file) all.write = written / machine.files.write_rate;
  if (plan.devices.empty()) {
    all.read = read * rates.moved;
  } else {
    all.upload = read * rates.moved, all.download = written * rates.moved;
    if (plan.stages_a || plan.stages_b) all.read = all.upload * staged_factor(machine.bus, plan.threads);
  }
  all.total = std::max(gemm_seconds(problem, plan), all.write);
  return all;
}

}  // namespace sepconv
