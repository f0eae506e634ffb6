// A product on the CPU: three roles around rings of panels and tiles. Internal to run_gemm().
#pragma once

#include <algorithm>
#include <vector>

#include "pipeline/gemm/gemm_memory.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/run_state.hpp"

namespace sepconv {

/// The reader fetches panels, the computer multiplies them into tiles, the writer hands finished tiles to the
/// sink; each in a thread of its own, in the order of the steps. As HostRun the first failure of any of them
/// ends all.
class GemmHostRun {
 public:
  /// Allocates everything. Throws OutOfMemory before anything is read.
  GemmHostRun(const GemmFiles& files, const GemmPlan& plan, const ExecutionOptions& options);

  void execute(Timeline& timeline);
  /// What it computes, or reads and writes, with: the plan's threads, or as many as there were to be had.
  int threads() const noexcept { return std::min(blas_threads_, pool_.concurrency()); }

 private:
  void read_all(Timeline& timeline);
  void compute_all(Timeline& timeline);
  void write_all(Timeline& timeline);
  void multiply(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& tile);

  GemmFiles files_;
  const GemmPlan& plan_;
  const ExecutionOptions& options_;
  std::vector<GemmStep> steps_;
  GemmMemory memory_;
  RunState state_;
  std::int64_t read_ = 0;      // steps whose panels are there; these three under the state's lock
  std::int64_t computed_ = 0;  // steps
  std::int64_t written_ = 0;   // tiles
  ThreadPool pool_;
  int blas_threads_;  // that multiply
};

}  // namespace sepconv
