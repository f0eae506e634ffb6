// Products of matrices of any size, from any readers to any writer, within the host and device memory limits.
//
//   const auto a = sepconv::open_reader("a.npy"), b = sepconv::open_reader("b.npy");
//   const auto out = sepconv::create_writer("c.npy", sepconv::gemm_result_spec({}, a->spec(), b->spec()),
//   {}); const sepconv::GemmReport report = sepconv::run_gemm({}, *a, *b, nullptr, *out, {{.max_memory_bytes
//   = 1 << 30}});
#pragma once

#include "io/memory_image.hpp"
#include "kernels/gemm/gemm.hpp"
#include "pipeline/gemm/gemm_plan.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv {

struct GemmReport {
  GemmPlan plan;
  double wall_seconds = 0;        ///< of the whole run, including startup
  double startup_seconds = 0;     ///< from the call to the first panel: planning, allocation, device context
  std::vector<StepReport> steps;  ///< operations of "compute" are multiply-adds
  std::string bottleneck;         ///< name of the step with the most busy time
  std::string device;             ///< "CPU, 2 threads, OpenBLAS 0.3.21", "cuda:0 NVIDIA H200, cuBLAS 13.0.2"
  Timeline timeline;
};

/// out = alpha op(a) op(b) + beta added. `added` may be null if beta is 0. Matrices are images of one channel
/// of f32 or f64, all of one type. Panels are read, uploaded, multiplied, downloaded and written
/// concurrently, on the CPU or on the first of options.devices. Calls out.finish() at the end. Errors as of
/// run(); InvalidArgument for shapes that do not match. The last bits may differ between plans and devices,
/// because the library sums in another order (docs/maths.md).
GemmReport run_gemm(const GemmOp& op, Reader& a, Reader& b, Reader* added, Writer& out,
                    const RunOptions& options = {});

/// The same with a plan that plan_gemm() returned for these matrices.
GemmReport run_gemm(Reader& a, Reader& b, Reader* added, Writer& out, const GemmPlan& plan,
                    const ExecutionOptions& options = {});

/// The same on the caller's host memory, which must stay valid until the call returns. `out` is also the
/// matrix that beta multiplies. With options.devices the panels pass through that GPU, fastest from
/// page-locked memory; if `memory` says page-locked, all three must be. Without a GPU, or if
/// options.choose_device selects the CPU, this is gemm_host on options.threads threads. `out` must not
/// overlap the operands.
void gemm(const GemmOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
          const RunOptions& options = {}, HostMemory memory = HostMemory::pageable);

/// Several lines of text: busy time, rate and overlap of each step, and the bottleneck.
std::string summary(const GemmReport& report);
/// The same facts and the plan as JSON text; schema in docs/formats.md.
std::string to_json(const GemmReport& report);

}  // namespace sepconv
