#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

#include "kernels/simd/dispatch.hpp"
#include "kernels/transpose/strided_matrix.hpp"
#include "kernels/transpose/transpose_check.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/transpose/transpose_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/transpose/blocks-inl.h"
#include "kernels/transpose/channels-inl.h"
#include "kernels/transpose/small-inl.h"
#include "kernels/transpose/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// How a panel is cut into tiles, and how a tile is transposed.
struct Tiling {
  StageTile stage = nullptr;
  std::int64_t rows = 0, cols = 0;  ///< maximum rows and columns of a tile
  bool lines = false;  ///< tiles whose rows are whole cache lines may be stored directly from registers
  bool gapless_rows = false;    ///< the tile's input is contiguous: its first address is enough
  bool whole_columns = false;   ///< the tile's result is contiguous and is stored in one step
  std::int64_t extra_rows = 0;  ///< rows read after the tile's, to complete the cache lines of the result
};

/// Whether the panel is pixels of two to four values without gaps.
bool has_pixels([[maybe_unused]] const Panel& panel) {
#if HWY_TARGET == HWY_SCALAR
  return false;
#else
  const std::int64_t bytes = panel.element_bytes;
  return panel.cols >= 2 && panel.cols <= 4 && (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) &&
         panel.in.evenly_spaced(panel.cols * bytes);
#endif
}

template <class T>
StageTile stage_lanes([[maybe_unused]] const Panel& panel, [[maybe_unused]] bool whole_columns) {
#if HWY_TARGET == HWY_SCALAR
  return stage_elements<sizeof(T), sizeof(T)>;
#else
  constexpr StageTile kPixels[] = {stage_pixels<T, 2>, stage_pixels<T, 3>, stage_pixels<T, 4>};
  constexpr StageTile kPlanes[] = {stage_planes<T, 2>, stage_planes<T, 3>, stage_planes<T, 4>};
  if (whole_columns && panel.rows >= 2 && panel.rows <= 4) return kPixels[panel.rows - 2];
  if (has_pixels(panel)) return kPlanes[panel.cols - 2];
  return stage_vectors<T>;
#endif
}

/// Returns the function for elements that are smaller than their lanes. Returns null for other elements, and
/// if the result has many rows without gaps.
StageTile stage_parts_of([[maybe_unused]] const Panel& panel, [[maybe_unused]] bool whole_columns) {
#if HWY_TARGET != HWY_SCALAR
  const std::int64_t bytes = panel.element_bytes;
  if (bytes > 16 || (whole_columns && panel.rows > max_parts_rows(bytes))) return nullptr;
  if (bytes == 3) return stage_parts<std::uint32_t, 3>;
  if (bytes == 6) return stage_parts<std::uint64_t, 6>;
  if (bytes == 5 || bytes == 7) return stage_parts<std::uint64_t, 0>;
  if (bytes == 12) return stage_wide_parts<12>;
  if (bytes > 8 && bytes < 16) return stage_wide_parts<0>;
#endif
  return nullptr;
}

StageTile stage_of(const Panel& panel, bool whole_columns) {
  if (const StageTile stage = stage_parts_of(panel, whole_columns)) return stage;
  switch (panel.element_bytes) {
    case 1:
      return stage_lanes<std::uint8_t>(panel, whole_columns);
    case 2:
      return stage_lanes<std::uint16_t>(panel, whole_columns);
    case 4:
      return stage_lanes<std::uint32_t>(panel, whole_columns);
    case 8:
      return stage_lanes<std::uint64_t>(panel, whole_columns);
    default:
      return stage_elements_of(panel.element_bytes);
  }
}

/// Whether the tile is transposed in registers by vectors that are whole cache lines.
bool stages_whole_lines([[maybe_unused]] StageTile stage) {
#if HWY_TARGET == HWY_SCALAR
  return false;
#else
  return hn::Lanes(hn::ScalableTag<std::uint8_t>()) == Tuning::kLine &&
         (stage == stage_vectors<std::uint8_t> || stage == stage_vectors<std::uint16_t> ||
          stage == stage_vectors<std::uint32_t> || stage == stage_vectors<std::uint64_t>);
#endif
}

/// Transposes without the buffer if the result consists of whole cache lines; returns whether it did.
bool stage_lines(StageTile stage, Tile tile, std::byte* to, std::int64_t to_pitch) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(to) % Tuning::kLine == 0;
  if (!aligned || tile.rows * tile.element_bytes % Tuning::kLine != 0 || tile.cols * tile.element_bytes < 16)
    return false;
  tile.to_memory = true;
  tile.staged = to;
  tile.staged_pitch = to_pitch;
  stage(tile);
  return true;
}

/// Whether whole output rows are transposed at once: rows are short and contiguous in the result.
bool has_whole_columns(const Panel& panel) {
  const std::int64_t bytes = panel.element_bytes;
  return panel.rows * bytes <= Tuning::kOutputRun && panel.out.evenly_spaced(panel.rows * bytes) &&
         (stage_parts_of(panel, true) != nullptr || stage_parts_of(panel, false) == nullptr);
}

Tiling tiling_of(const Panel& panel, bool past_caches) {
  const std::int64_t bytes = panel.element_bytes;
  Tiling tiling;
  tiling.whole_columns = has_whole_columns(panel);
  tiling.stage = stage_of(panel, tiling.whole_columns);
  const std::int64_t row_bytes = panel.cols * bytes;
  tiling.gapless_rows = row_bytes <= Tuning::kInputRun && panel.in.evenly_spaced(row_bytes);
  if (tiling.whole_columns) {
    tiling.rows = panel.rows;
    tiling.cols =
        std::min(panel.cols, Tuning::kStaged / 2 / (panel.rows * bytes) / Tuning::kLine * Tuning::kLine);
    tiling.cols = std::max<std::int64_t>(tiling.cols, std::min<std::int64_t>(panel.cols, 16));
    return tiling;
  }
  tiling.cols = std::min(panel.cols, std::max<std::int64_t>(1, Tuning::kInputRun / bytes));
  tiling.lines = stages_whole_lines(tiling.stage) && panel.out.evenly_spaced(panel.out.row_bytes) &&
                 panel.out.row_bytes % Tuning::kLine == 0;
  if (past_caches && !panel.elements_align_with_lines())
    tiling.extra_rows = (Tuning::kLine - 1 + bytes - 1) / bytes;
  const std::int64_t max_run = tiling.gapless_rows ? Tuning::kPlaneRun : Tuning::kOutputRun;
  const std::int64_t run = std::min(max_run, Tuning::kStaged / tiling.cols - 2 * Tuning::kLine - bytes);
  tiling.rows = std::max<std::int64_t>(1, run / Tuning::kLine * Tuning::kLine / bytes);
  return tiling;
}

/// Stores the rows of a tile's result: starts after the cache lines that the previous tile completed, and
/// completes the last line.
void store_rows(const Panel& panel, const Tiling& tiling, const Tile& tile, std::int64_t row,
                std::int64_t rows, std::byte* const* out_rows, bool past_caches) {
  const std::int64_t bytes = panel.element_bytes;
  for (std::int64_t i = 0; i < tile.cols; ++i) {
    std::byte* const to = out_rows[i] + row * bytes;
    std::int64_t begin = 0;
    std::int64_t end = rows * bytes;
    if (tiling.extra_rows > 0) {
      const std::int64_t max_run = tile.rows * bytes;
      if (row > 0 || panel.rows_before > 0) begin = std::min(max_run, to_line(to));
      end = std::min(max_run, end + to_line(to + end));
    }
    store_bytes(tile.staged + i * tile.staged_pitch + begin, end - begin, to + begin, past_caches);
  }
}

/// Transposes by tiles, in the order of the input's rows.
void transpose_tiles(const Panel& panel, bool past_caches) {
  alignas(64) std::byte staged[Tuning::kStaged + Tuning::kLine];
  const std::byte* in_rows[Tuning::kTileRows + Tuning::kLine];
  std::byte* out_rows[Tuning::kInputRun];
  const Tiling tiling = tiling_of(panel, past_caches);
  const std::int64_t bytes = panel.element_bytes;
  Tile tile{.rows_data = in_rows, .element_bytes = bytes, .staged = staged};
  if (tiling.gapless_rows) tile.in_pitch = panel.cols * bytes;
  const std::int64_t phase = tiling.whole_columns ? 0 : panel.elements_past_line() % tiling.rows;
  std::int64_t next_row = 0;
  for (std::int64_t row = 0; row < panel.rows; row = next_row) {
    next_row = std::min(panel.rows, row == 0 ? tiling.rows - phase : row + tiling.rows);
    tile.rows = std::min(next_row + tiling.extra_rows, panel.rows + panel.rows_after) - row;
    tile.staged_pitch =
        tiling.whole_columns ? tile.rows * bytes : (tiling.rows + tiling.extra_rows) * bytes + Tuning::kLine;
    panel.in.fill(row, tiling.gapless_rows ? 1 : tile.rows, in_rows);
    for (std::int64_t col = 0; col < panel.cols; col += tiling.cols) {
      tile.cols = std::min(tiling.cols, panel.cols - col);
      tile.offset = col * bytes;
      tile.next_bytes = std::min(tiling.cols, panel.cols - col - tile.cols) * bytes;
      if (past_caches && tiling.lines &&
          stage_lines(tiling.stage, tile, panel.out.at(col) + row * bytes, panel.out.row_bytes)) {
        continue;
      }
      tiling.stage(tile);
      if (tiling.whole_columns) {
        store_bytes(staged, tile.cols * tile.rows * bytes, panel.out.at(col), past_caches);
        continue;
      }
      panel.out.fill(col, tile.cols, out_rows);
      store_rows(panel, tiling, tile, row, next_row - row, out_rows, past_caches);
    }
  }
}

/// Copies elements that are long enough to be stored directly.
void transpose_large_elements(const Panel& panel, bool past_caches) {
  for (std::int64_t col = 0; col < panel.cols; ++col) {
    std::byte* const to = panel.out.at(col);
    for (std::int64_t row = 0; row < panel.rows; ++row) {
      store_bytes(panel.in.at(row) + col * panel.element_bytes, panel.element_bytes,
                  to + row * panel.element_bytes, past_caches);
    }
  }
}

void transpose_panel(const Panel& panel, bool past_caches) {
  if (panel.rows == 1 && panel.out.evenly_spaced(panel.element_bytes)) {
    store_bytes(panel.in.at(0), panel.bytes(), panel.out.at(0), past_caches);
  } else if (panel.cols == 1 && panel.in.evenly_spaced(panel.element_bytes)) {
    store_bytes(panel.in.at(0), panel.bytes(), panel.out.at(0), past_caches);
  } else if (panel.element_bytes >= Tuning::kLargeElement) {
    transpose_large_elements(panel, past_caches);
  } else {
    transpose_tiles(panel, past_caches);
  }
}

/// Transposes several contiguous matrices. Returns false if there are gaps, or if the matrices are too large
/// to benefit.
bool transpose_small(const PanelPieces& pieces, const Panel& first, std::int64_t items) {
  const SmallMatrices small{.items = items,
                            .rows = first.rows,
                            .cols = first.cols,
                            .element_bytes = first.element_bytes,
                            .in = first.in.at(0),
                            .out = first.out.at(0),
                            .past_caches = pieces.stores_past_caches()};
  const std::int64_t bytes = small.item_bytes();
  if (bytes > Tuning::kSmallMatrix || pieces.in_item_bytes() != bytes || pieces.out_item_bytes() != bytes ||
      !first.in.evenly_spaced(first.cols * first.element_bytes) ||
      !first.out.evenly_spaced(first.rows * first.element_bytes)) {
    return false;
  }
#if HWY_TARGET != HWY_SCALAR
  if (fits_byte_order(small)) {
    transpose_by_bytes(small);
    return true;
  }
#endif
  transpose_by_stages(small, stage_of(first, true));
  return true;
}

void transpose_items(const PanelPieces& pieces, const PanelPiece& piece) {
  const Panel first = pieces.panel(piece.first_item, piece);
  if (piece.items > 1) {
    if (transpose_small(pieces, first, piece.items)) return;
    const TransposeTiny tiny = tiny_transpose_for(first.element_bytes);
    if (piece.rows * piece.cols <= Tuning::kTinyMatrix && tiny != nullptr)
      return tiny(first, piece.items, pieces.in_item_bytes(), pieces.out_item_bytes());
  }
  for (std::int64_t i = 0; i < piece.items; ++i)
    transpose_panel(pieces.panel(piece.first_item + i, piece), pieces.stores_past_caches());
}

void transpose_piece(const PanelPieces& pieces, std::int64_t index) {
  transpose_items(pieces, pieces.piece(index));
  if (pieces.stores_past_caches()) hwy::FlushStream();
}

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sepconv {

HWY_EXPORT(transpose_piece);

void transpose_host(const TransposeShape& shape, ConstMatrices in, Matrices out) {
  SerialExecutor executor;
  transpose_host(shape, in, out, executor);
}

void transpose_host(const TransposeShape& shape, ConstMatrices in, Matrices out, Executor& executor) {
  check_transpose(shape);
  const PanelPieces pieces(shape, in, out, executor.concurrency());
  executor.for_each(pieces.count(), [&](std::int64_t index, int) {
    HWY_DYNAMIC_DISPATCH(transpose_piece)(pieces, index);
  });
}

}  // namespace sepconv
#endif
