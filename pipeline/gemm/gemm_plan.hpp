// How a product of matrices is cut so that it fits into memory. Pure integer code; no matrix is read.
//
// The result is made tile by tile, columns of tiles from left to right, each from top to bottom. A tile stays
// in memory while the panels that its sums run over come by: this many columns of op(A), `rows` high, and so
// many rows of op(B), `cols` wide. Where memory allows, the panels of op(B) of a column of tiles stay for all
// of its tiles. With tiles of r x c elements, A is read n / c times and B m / r times, or once.
#pragma once

#include <string>
#include <vector>

#include "kernels/gemm/gemm.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

struct GemmPlan {
  PlanOptions asked;  ///< that it was made with
  GemmOp op;
  GemmShape shape;
  PixelType type = PixelType::f64;
  std::int64_t rows = 0;   ///< of a tile; the last of a column of tiles may be lower
  std::int64_t cols = 0;   ///< of a tile; those at the right edge may be narrower
  std::int64_t depth = 0;  ///< of a panel: terms of the sums
  bool keeps_b = false;    ///< panels of op(B) stay for a whole column of tiles
  bool whole_a =
      false;  ///< where op(B) is there already, a tile is computed in one step; else in panels all the same
  std::int64_t row_unit = 1;  ///< tiles end at multiples of it: the sink's blocks
  int slots = 1;              ///< panels in flight
  int tiles = 1;              ///< tiles of the result in memory
  bool stages_a = false;  ///< on a GPU: threads gather panels of A in page-locked memory of the run's own,
                          ///< from where they go up
  bool stages_b = false;  ///< those of B likewise
  std::int64_t strip_rows = 0;  ///< on a GPU: rows of a tile that go through page-locked memory at once
  int threads = 1;
  std::vector<int> devices;  ///< the GPU that computes, if any
  MemoryUse memory;          ///< slots: panels and tiles; scratch: OpenBLAS's own
  std::int64_t max_memory_bytes = 0;
  DeviceMemoryUse device_memory;
  std::int64_t max_device_memory_bytes = 0;
  std::int64_t bytes_read = 0;     ///< of A, B and what is added: what is uploaded where a GPU computes
  std::int64_t bytes_written = 0;  ///< of the result
  Prediction predicted;
  double min_bytes = 0;  ///< read and written, in any order of work with as much memory where it is done
  std::vector<std::string> warnings, notes;  ///< as a Plan's

  /// Tiles of the result, as they would be if the last ones were not cut.
  std::int64_t band_count() const noexcept { return ceil_div(shape.m, rows) * ceil_div(shape.n, cols); }
  /// Terms of op(A)'s largest panel.
  std::int64_t a_depth() const noexcept { return keeps_b && whole_a ? shape.k : depth; }
  /// Terms of the first panels: the less, the sooner the first step begins. They double from step to step.
  std::int64_t first_depth() const noexcept;
  std::int64_t element_bytes() const noexcept { return size_of(type); }
  ImageSpec result() const noexcept { return {{shape.m, shape.n}, 1, type}; }
};

/// A panel of each operand and the tile that they are added to.
struct GemmStep {
  std::int64_t tile = 0;  ///< counts tiles
  Rect result;            ///< of the tile
  std::int64_t k = 0;     ///< the panels' first term
  std::int64_t depth = 0;
  bool first = false;    ///< of its tile
  bool last = false;     ///< of its tile
  bool loads_b = false;  ///< else the panel of op(B) is there already
  /// Steps that must have been computed before the memory that op(A)'s, op(B)'s panel and the tile go to is
  /// free; -1: none.
  std::int64_t a_after = -1;
  std::int64_t b_after = -1;
  std::int64_t tile_after = -1;  ///< a tile that must have left
};

/// All of it in order.
std::vector<GemmStep> gemm_steps(const GemmPlan& plan);

/// Rectangles of the operands as they are stored.
inline Rect stored_a(const GemmOp& op, const GemmStep& step) {
  const Rect panel{step.result.row, step.k, step.result.rows, step.depth};
  return op.trans_a ? Rect{panel.col, panel.row, panel.cols, panel.rows} : panel;
}
inline Rect stored_b(const GemmOp& op, const GemmStep& step) {
  const Rect panel{step.k, step.result.col, step.depth, step.result.cols};
  return op.trans_b ? Rect{panel.col, panel.row, panel.cols, panel.rows} : panel;
}

/// Spec of op(a) op(b). Throws InvalidArgument as gemm_shape does.
ImageSpec gemm_result_spec(const GemmOp& op, const ImageSpec& a, const ImageSpec& b);

/// Throws InvalidArgument for matrices that do not fit, or readers and writers that take no rectangles in any
/// order, and OutOfMemory with the smallest ceiling that would do.
GemmPlan plan_gemm(const GemmOp& op, const Reader& a, const Reader& b, const Reader* added, const Writer& out,
                   const PlanOptions& options = {});

/// The plan for people, several lines; what `sepconv gemm --dry-run` prints.
std::string describe(const GemmPlan& plan);

}  // namespace sepconv
