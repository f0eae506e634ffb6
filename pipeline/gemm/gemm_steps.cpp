// The order of a product's work, and the plan in words.
#include <fmt/format.h>

#include <algorithm>

#include "core/byte_text.hpp"
#include "core/count_text.hpp"
#include "pipeline/gemm/gemm_plan.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMinDepth = 128;
constexpr std::int64_t kMinRows = 256;

/// Heights of a column of tiles. The last one of the product leaves when nothing else is left to do: with
/// op(B) there it is cut into ever lower ones.
std::vector<std::int64_t> heights(const GemmPlan& plan, bool last_column) {
  std::vector<std::int64_t> found;
  for (std::int64_t row = 0; row < plan.shape.m; row += plan.rows)
    found.push_back(std::min(plan.rows, plan.shape.m - row));
  if (!last_column || !plan.keeps_b || plan.devices.empty()) return found;
  std::int64_t left = found.back();
  found.pop_back();
  for (std::int64_t part = left / 2; part >= kMinRows; part /= 2) {
    const std::int64_t rows = round_up(part, round_up(kMinRows, plan.row_unit));
    if (rows >= left) break;
    found.push_back(rows);
    left -= rows;
  }
  found.push_back(left);
  return found;
}

class StepList {
 public:
  explicit StepList(const GemmPlan& plan) : plan_(plan) {}

  std::vector<GemmStep> make() {
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
      const std::int64_t now = std::min(depth, plan_.shape.k - k);
      const auto index = static_cast<std::int64_t>(steps_.size());
      steps_.push_back({.tile = tiles_,
                        .result = result,
                        .k = k,
                        .depth = now,
                        .first = k == 0,
                        .last = k + now == plan_.shape.k,
                        .loads_b = loads_b,
                        .a_after = index - plan_.slots,
                        .b_after = plan_.keeps_b ? column_after_ : index - plan_.slots,
                        .tile_after = tiles_ - plan_.tiles});
      k += now;
      if (loads_b) depth = std::min(depth * 2, plan_.depth);
    }
    ++tiles_;
  }

  const GemmPlan& plan_;
  std::vector<GemmStep> steps_;
  std::int64_t tiles_ = 0;
  std::int64_t column_after_ = -1;  // the last step of the column of tiles before
};

std::string bytes(double count) { return format_bytes(count); }

std::string operand(const char* name, bool transposed) {
  return fmt::format("{}{}", name, transposed ? "^T" : "");
}

}  // namespace

std::int64_t GemmPlan::first_depth() const noexcept {
  return std::min(depth, std::max(kMinDepth, depth / 8));
}

std::vector<GemmStep> gemm_steps(const GemmPlan& plan) { return StepList(plan).make(); }

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
  line("read", bytes(static_cast<double>(plan.bytes_read)));
  line("written", bytes(static_cast<double>(plan.bytes_written)));
  line("", fmt::format("together {}; with this memory no order of work moves less than {}", bytes(moved),
                       bytes(plan.min_bytes)));
  line("memory",
       fmt::format(
           "{} of {}: panels and tiles {}, scratch {}, source {}, sink {}",
           bytes(static_cast<double>(plan.memory.total())), bytes(static_cast<double>(plan.max_memory_bytes)),
           bytes(static_cast<double>(plan.memory.slots)), bytes(static_cast<double>(plan.memory.scratch)),
           bytes(static_cast<double>(plan.memory.source)), bytes(static_cast<double>(plan.memory.sink))));
  if (!plan.devices.empty()) {
    line("device", fmt::format("cuda:{}, {} of {}", plan.devices.front(),
                               bytes(static_cast<double>(plan.device_memory.total())),
                               bytes(static_cast<double>(plan.max_device_memory_bytes))));
  }
  line("predicted", to_string(plan.predicted));
  for (const std::string& warning : plan.warnings) line("warning", warning);
  for (const std::string& note : plan.notes) line("note", note);
  return text;
}

}  // namespace sepconv
