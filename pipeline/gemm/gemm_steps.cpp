// The steps of a product, and the plan as text.
#include <fmt/format.h>

#include <algorithm>

#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "pipeline/gemm/gemm_plan.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMinDepth = 128;
constexpr std::int64_t kMinRows = 256;

/// Tile heights of a column of tiles. Nothing overlaps the download of the product's last tile; if op(B)
/// stays in memory, it is divided into ever lower tiles.
std::vector<std::int64_t> heights(const GemmPlan& plan, bool last_column) {
  std::vector<std::int64_t> tile_heights;
  for (std::int64_t row = 0; row < plan.shape.m; row += plan.rows)
    tile_heights.push_back(std::min(plan.rows, plan.shape.m - row));
  if (!last_column || !plan.keeps_b || plan.devices.empty()) return tile_heights;
  std::int64_t rows_left = tile_heights.back();
  tile_heights.pop_back();
  for (std::int64_t part = rows_left / 2; part >= kMinRows; part /= 2) {
    const std::int64_t rows = round_up(part, round_up(kMinRows, plan.row_unit));
    if (rows >= rows_left) break;
    tile_heights.push_back(rows);
    rows_left -= rows;
  }
  tile_heights.push_back(rows_left);
  return tile_heights;
}

class StepList {
 public:
  explicit StepList(const GemmPlan& plan) : plan_(plan) {}

  std::vector<GemmStep> build() {
    for (std::int64_t col = 0; col < plan_.shape.n; col += plan_.cols) {
      const std::int64_t cols = std::min(plan_.cols, plan_.shape.n - col);
      column_after_ = static_cast<std::int64_t>(steps_.size()) - 1;
      std::int64_t row = 0;
      for (const std::int64_t rows : heights(plan_, col + cols == plan_.shape.n)) {
        add_tile({row, col, rows, cols});
        row += rows;
      }
    }
    return std::move(steps_);
  }

 private:
  void add_tile(const Rect& result) {
    const bool loads_b = !plan_.keeps_b || result.row == 0;
    std::int64_t depth = steps_.empty() ? plan_.first_depth() : loads_b ? plan_.depth : plan_.a_depth();
    for (std::int64_t k = 0; k < plan_.shape.k;) {
      const std::int64_t step_depth = std::min(depth, plan_.shape.k - k);
      const auto index = static_cast<std::int64_t>(steps_.size());
      steps_.push_back({.tile = tiles_,
                        .result = result,
                        .k = k,
                        .depth = step_depth,
                        .first = k == 0,
                        .last = k + step_depth == plan_.shape.k,
                        .loads_b = loads_b,
                        .a_free_after = index - plan_.slots,
                        .b_free_after = plan_.keeps_b ? column_after_ : index - plan_.slots,
                        .tile_free_after = tiles_ - plan_.tiles});
      k += step_depth;
      if (loads_b) depth = std::min(depth * 2, plan_.depth);
    }
    ++tiles_;
  }

  const GemmPlan& plan_;
  std::vector<GemmStep> steps_;
  std::int64_t tiles_ = 0;
  std::int64_t column_after_ = -1;  // last step of the previous column of tiles
};

std::string bytes_text(double count) { return format_bytes(count); }

std::string operand(const char* name, bool transposed) {
  return fmt::format("{}{}", name, transposed ? "^T" : "");
}

}  // namespace

std::int64_t GemmPlan::first_depth() const noexcept {
  return std::min(depth, std::max(kMinDepth, depth / 8));
}

std::vector<GemmStep> gemm_steps(const GemmPlan& plan) { return StepList(plan).build(); }

std::string describe(const GemmPlan& plan) {
  std::string text;
  const auto line = [&text](const char* name, const std::string& value) {
    text += fmt::format("{:<10} {}\n", name, value);
  };
  std::string product = fmt::format("{} {}", operand("A", plan.op.trans_a), operand("B", plan.op.trans_b));
  if (plan.op.alpha != 1) product = fmt::format("{} {}", plan.op.alpha, product);
  if (plan.op.beta != 0) product += fmt::format(" + {} C", plan.op.beta);
  line("product",
       fmt::format("{}: {} x {}, sums of {} of {}, {:.3g} multiply-adds", product, plan.shape.m, plan.shape.n,
                   count_text(plan.shape.k, "term"), name_of(plan.type), plan.shape.operations()));
  const std::vector<GemmStep> steps = gemm_steps(plan);
  line("tiles", fmt::format("{} of at most {} x {} elements, {} in memory",
                            steps.empty() ? 0 : steps.back().tile + 1, plan.rows, plan.cols, plan.tiles));
  if (plan.devices.empty()) line("threads", fmt::format("{}", plan.threads));
  line("panels", fmt::format("{} of at most {}, {} in flight; {}", count_text(std::ssize(steps), "step"),
                             count_text(plan.depth, "term"), plan.slots,
                             plan.keeps_b ? "those of B stay for a column of tiles"
                                          : "those of B are read for every tile"));
  if (plan.stages_a || plan.stages_b) {
    const char* const which = !plan.stages_b ? "those of A" : !plan.stages_a ? "those of B" : "both";
    line("",
         fmt::format("{} gathered in page-locked memory by {}", which, count_text(plan.threads, "thread")));
  }
  const double moved = static_cast<double>(plan.bytes_read) + static_cast<double>(plan.bytes_written);
  line("read", bytes_text(static_cast<double>(plan.bytes_read)));
  line("written", bytes_text(static_cast<double>(plan.bytes_written)));
  line("", fmt::format("together {}; with this memory no order of work moves less than {}", bytes_text(moved),
                       bytes_text(plan.min_bytes)));
  line("memory", fmt::format("{} of {}: panels and tiles {}, scratch {}, source {}, sink {}",
                             bytes_text(static_cast<double>(plan.memory.total())),
                             bytes_text(static_cast<double>(plan.max_memory_bytes)),
                             bytes_text(static_cast<double>(plan.memory.slots)),
                             bytes_text(static_cast<double>(plan.memory.scratch)),
                             bytes_text(static_cast<double>(plan.memory.source)),
                             bytes_text(static_cast<double>(plan.memory.sink))));
  if (!plan.devices.empty()) {
    line("device", fmt::format("cuda:{}, {} of {}", plan.devices.front(),
                               bytes_text(static_cast<double>(plan.device_memory.total())),
                               bytes_text(static_cast<double>(plan.max_device_memory_bytes))));
  }
  line("predicted", to_string(plan.predicted));
  for (const std::string& warning : plan.warnings) line("warning", warning);
  for (const std::string& note : plan.notes) line("note", note);
  return text;
}

}  // namespace sepconv
