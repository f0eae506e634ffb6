// A product on the CPU: three threads (read, compute, write) on rings of panels and tiles. Internal to
// run_gemm().
#pragma once

#include <algorithm>
#include <vector>

#include "pipeline/gemm/gemm_memory.hpp"
#include "pipeline/machine/thread_pool.hpp"
#include "pipeline/run/run_state.hpp"

namespace sepconv {

/// One thread reads panels, one multiplies them into tiles and one writes finished tiles, each in the order
/// of the steps. As in HostRun, the first failure ends the run.
class GemmHostRun final : public Runner {
 public:
  /// Allocates all memory. Throws OutOfMemory before anything is read.
  GemmHostRun(const GemmFiles& files, const GemmPlan& plan, const ExecutionOptions& options);

  void execute(Timeline& timeline) override;
  int threads() const noexcept override { return std::min(blas_threads_, pool_.concurrency()); }

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
  std::int64_t read_ = 0;      // steps whose panels are read; these three under the state's lock
  std::int64_t computed_ = 0;  // steps
  std::int64_t written_ = 0;   // tiles
  ThreadPool pool_;
  int blas_threads_;  // threads of OpenBLAS
};

}  // namespace sepconv
