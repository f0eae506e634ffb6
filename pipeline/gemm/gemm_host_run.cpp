#include "pipeline/gemm/gemm_host_run.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "kernels/device/profiler_range.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kPartOperations = 20'000'000'000;  // a few tenths of a second
constexpr std::int64_t kMinPartRows = 256;

}  // namespace

GemmHostRun::GemmHostRun(const GemmFiles& files, const GemmPlan& plan, const ExecutionOptions& options)
    : files_(files),
      plan_(plan),
      options_(options),
      steps_(gemm_steps(plan)),
      memory_(plan, host_memory(options)),
      state_(steps_.back().tile + 1, plan.result().extent.area(), plan.result().pixel_bytes(), options),
      pool_({.threads = plan.threads, .others = 2}, state_.stop_token()),
      blas_threads_(prepare_gemm_host(pool_.concurrency())) {}

void GemmHostRun::execute(Timeline& timeline) {
  state_.run_to_end([&](Roles& roles) {
    roles.start([&] { state_.attempt([&] { read_all(timeline); }); });
    roles.start([&] { state_.attempt([&] { write_all(timeline); }); });
    compute_all(timeline);
  });
}

void GemmHostRun::read_all(Timeline& timeline) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const GemmStep& step = steps_[i];
    const auto index = static_cast<std::int64_t>(i);
    const bool loads_added = step.first && files_.added != nullptr;
    const auto is_free = [&] {
      return computed_ > step.a_free_after && (!step.loads_b || computed_ > step.b_free_after) &&
             (!loads_added || written_ > step.tile_free_after);
    };
    if (!state_.wait_until(is_free)) return;
    const double begin = timeline.now();
    const ProfilerRange range("read", index);
    const PixelView a = memory_.a(step, index);
    std::int64_t bytes = a.extent.rows * a.row_bytes();
    files_.a.read(stored_a(plan_.op, step), a, pool_);
    if (step.loads_b) {
      const PixelView b = memory_.b(step, index);
      bytes += b.extent.rows * b.row_bytes();
      files_.b.read(stored_b(plan_.op, step), b, pool_);
    }
    if (loads_added) {
      bytes += step.result.area() * plan_.element_bytes();
      files_.added->read(step.result, memory_.tile(step), pool_);
    }
    timeline.record({"read", index, begin, timeline.now(), bytes});
    state_.add_bytes_read(bytes);
    state_.update([&] { ++read_; });
  }
}

void GemmHostRun::compute_all(Timeline& timeline) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const GemmStep& step = steps_[i];
    const auto index = static_cast<std::int64_t>(i);
    if (!state_.wait_until([&] { return read_ > index && written_ > step.tile_free_after; })) return;
    const double begin = timeline.now();
    const ProfilerRange range("compute", index);
    const PixelView a = memory_.a(step, index), b = memory_.b(step, index), tile = memory_.tile(step);
    multiply(op_of(plan_, step), a, b, tile);
    const std::int64_t elements = a.extent.area() + b.extent.area() + tile.extent.area();
    timeline.record({"compute", index, begin, timeline.now(), elements * plan_.element_bytes()});
    state_.update([&] { ++computed_; });
  }
}

/// Multiplies in parts, so that a stop takes effect between them and OpenBLAS packs no more than planned.
void GemmHostRun::multiply(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b,
                           const PixelView& tile) {
  const std::int64_t depth = op.trans_a ? a.extent.rows : a.extent.cols;
  const std::int64_t max_rows = std::min(std::max(kMinPartRows, kPartOperations / (depth * tile.extent.cols)),
                                         blas_threads_ * kMaxBlasRows);
  for (std::int64_t row = 0; row < tile.extent.rows; row += max_rows) {
    if (state_.stop_token().stop_requested()) throw Cancelled();
    const std::int64_t rows = std::min(max_rows, tile.extent.rows - row);
    const Rect part = op.trans_a ? Rect{0, row, depth, rows} : Rect{row, 0, rows, depth};
    gemm_host(op, a.crop(part), b, tile.crop({row, 0, rows, tile.extent.cols}), blas_threads_);
  }
}

void GemmHostRun::write_all(Timeline& timeline) {
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    const GemmStep& step = steps_[i];
    if (!step.last) continue;
    if (!state_.wait_until([&] { return computed_ > static_cast<std::int64_t>(i); })) return;
    const double begin = timeline.now();
    {
      const ProfilerRange range("write", step.tile);
      files_.out.write(step.result, memory_.tile(step), pool_);
    }
    timeline.record({"write", step.tile, begin, timeline.now(), step.result.area() * plan_.element_bytes()});
    state_.update([&] { ++written_; });
    state_.report_written(step.result, timeline);
  }
}

}  // namespace sepconv
