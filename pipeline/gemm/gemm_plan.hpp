// The tiling of a matrix product that fits into memory. Pure integer code; no matrix is read.
//
// The result is computed tile by tile: columns of tiles from left to right, each from top to bottom. A tile
// stays in memory while panels along k are added to it: panels of op(A), `rows` high, and of op(B), `cols`
// wide, both `depth` deep. If memory allows, the panels of op(B) stay for a whole column of tiles. With tiles
// of r x c elements, A is read n / c times and B m / r times, or once.
#pragma once

#include <string>
#include <vector>

#include "kernels/gemm/gemm.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

struct GemmPlan {
  PlanOptions asked;  ///< the options of plan_gemm()
  GemmOp op;
  GemmShape shape;
  PixelType type = PixelType::f64;
  std::int64_t rows = 0;      ///< of a tile; the last tile of a column may have fewer
  std::int64_t cols = 0;      ///< of a tile; tiles at the right edge may have fewer
  std::int64_t depth = 0;     ///< of a panel: number of terms along k
  bool keeps_b = false;       ///< panels of op(B) stay for a whole column of tiles
  bool whole_a = false;       ///< with op(B) in memory, a tile is computed in one step
  std::int64_t row_unit = 1;  ///< tile rows are multiples of it: rows of the sink's blocks
  int slots = 1;              ///< panels in flight
  int tiles = 1;              ///< tiles of the result in memory
  bool stages_a = false;  ///< on a GPU: threads gather panels of A in page-locked memory before the upload
  bool stages_b = false;  ///< the same for B
  std::int64_t strip_rows = 0;  ///< on a GPU: rows of a tile per copy through page-locked memory
  int threads = 1;
  std::vector<int> devices;  ///< the GPU that computes, if any
  MemoryUse memory;          ///< slots: panels and tiles; scratch: OpenBLAS's buffers
  std::int64_t max_memory_bytes = 0;
  DeviceMemoryUse device_memory;
  std::int64_t max_device_memory_bytes = 0;
  std::int64_t bytes_read = 0;     ///< of A, B and the added matrix; on a GPU also the uploaded bytes
  std::int64_t bytes_written = 0;  ///< of the result
  Prediction predicted;
  double min_bytes = 0;                      ///< lower bound of bytes read and written with this memory
  std::vector<std::string> warnings, notes;  ///< as in Plan

  /// Number of tiles of the result, not counting that the last tile may be divided.
  std::int64_t band_count() const noexcept { return ceil_div(shape.m, rows) * ceil_div(shape.n, cols); }
  /// Depth of op(A)'s largest panel.
  std::int64_t a_depth() const noexcept { return keeps_b && whole_a ? shape.k : depth; }
  /// Depth of the first panels, small so that the first step begins early. It doubles from step to step.
  std::int64_t first_depth() const noexcept;
  std::int64_t element_bytes() const noexcept { return size_of(type); }
  ImageSpec result() const noexcept { return {{shape.m, shape.n}, 1, type}; }
};

/// A panel of each operand and the tile that their product is added to.
struct GemmStep {
  std::int64_t tile = 0;  ///< index of the tile
  Rect result;            ///< the tile's position
  std::int64_t k = 0;     ///< first term of the panels
  std::int64_t depth = 0;
  bool first = false;    ///< first step of its tile
  bool last = false;     ///< last step of its tile
  bool loads_b = false;  ///< false: the panel of op(B) is already in memory
  /// Last steps that use the memory of this step's panels of op(A) and op(B); -1 if it is free.
  std::int64_t a_free_after = -1;
  std::int64_t b_free_after = -1;
  std::int64_t tile_free_after = -1;  ///< last tile that used this tile's memory; -1 if it is free
};

/// All steps in order.
std::vector<GemmStep> gemm_steps(const GemmPlan& plan);

/// Rectangle of a step's panel in the stored operand.
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

/// Plans a product. Throws InvalidArgument for shapes that do not match and for readers without random
/// access, and OutOfMemory with the minimum sufficient limit.
GemmPlan plan_gemm(const GemmOp& op, const Reader& a, const Reader& b, const Reader* added, const Writer& out,
                   const PlanOptions& options = {});

/// The plan as text of several lines, as `sepconv gemm --dry-run` prints it.
std::string describe(const GemmPlan& plan);

}  // namespace sepconv
