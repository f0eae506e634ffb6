// Buffers for the panels and tiles of a product, in host or device memory. Internal to the runners.
#pragma once

#include "core/memory.hpp"
#include "pipeline/gemm/gemm_plan.hpp"

namespace sepconv {

/// OpenBLAS's packing buffer per thread, if a call has at most kMaxBlasRows rows per thread.
constexpr std::int64_t kBlasBytesPerThread = 8 << 20;
constexpr std::int64_t kMaxBlasRows = kBlasBytesPerThread / (384 * 8);

/// Minimum bytes of a strided row for copy engines; a kernel copies shorter rows over the bus.
constexpr std::int64_t kLongBusRow = BusModel{}.long_row_bytes;
/// Strips of a tile buffered in page-locked memory, per direction.
constexpr std::int64_t kStripsInFlight = 2;

class GemmMemory {
 public:
  GemmMemory(const GemmPlan& plan, std::pmr::memory_resource* memory)
      : plan_(plan),
        a_bytes_(plan.rows * plan.a_depth() * plan.element_bytes()),
        b_bytes_((plan.keeps_b ? plan.shape.k : plan.depth) * plan.cols * plan.element_bytes()),
        tile_bytes_(plan.rows * plan.cols * plan.element_bytes()),
        a_(plan.slots * a_bytes_, memory),
        b_((plan.keeps_b ? 1 : plan.slots) * b_bytes_, memory),
        tiles_(plan.tiles * tile_bytes_, memory) {}

  /// View of a step's panel of A in its stored layout; b() and tile() likewise.
  PixelView a(const GemmStep& step, std::int64_t index) const {
    return dense(a_, index % plan_.slots * a_bytes_, stored_a(plan_.op, step).extent());
  }

  PixelView b(const GemmStep& step, std::int64_t index) const {
    const Extent panel = stored_b(plan_.op, step).extent();
    if (!plan_.keeps_b) return dense(b_, index % plan_.slots * b_bytes_, panel);
    // One matrix of the whole depth, so that any panel can be a crop of it.
    const bool trans = plan_.op.trans_b;
    const PixelView all_panels =
        dense(b_, 0, trans ? Extent{panel.rows, plan_.shape.k} : Extent{plan_.shape.k, panel.cols});
    return all_panels.crop({trans ? 0 : step.k, trans ? step.k : 0, panel.rows, panel.cols});
  }

  PixelView tile(const GemmStep& step) const {
    return dense(tiles_, step.tile % plan_.tiles * tile_bytes_, step.result.extent());
  }

 private:
  PixelView dense(const Buffer& buffer, std::int64_t offset, Extent extent) const {
    return dense_view(buffer.data() + offset, ImageSpec{extent, 1, plan_.type});
  }

  const GemmPlan& plan_;
  std::int64_t a_bytes_, b_bytes_, tile_bytes_;
  Buffer a_, b_, tiles_;
};

/// The operation of a step: the first step of a tile applies beta, the others add to the tile.
inline GemmOp op_of(const GemmPlan& plan, const GemmStep& step) {
  GemmOp op = plan.op;
  if (!step.first) op.beta = 1;
  return op;
}

/// The matrices of a run. `added` is null if beta is 0.
struct GemmFiles {
  Reader& a;
  Reader& b;
  Reader* added;
  Writer& out;
};

}  // namespace sepconv
