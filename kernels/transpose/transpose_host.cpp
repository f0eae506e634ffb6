#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

#include "sepconv/kernels/simd/dispatch.hpp"
#include "sepconv/kernels/transpose/panel.hpp"
#include "sepconv/kernels/transpose/transpose_check.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "sepconv/kernels/transpose/transpose_host.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "sepconv/kernels/transpose/tile-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

using Tuning = HostTransposeTuning;

/// Copies around the caches whatever whole lines of `to` there are.
HWY_INLINE void stream_bytes(const std::byte* from, std::int64_t bytes, std::byte* to) {
  const hn::ScalableTag<std::uint8_t> d;
  const auto lanes = std::int64_t(hn::Lanes(d));
  const std::int64_t before = -std::int64_t(reinterpret_cast<std::uintptr_t>(to)) & (Tuning::kLine - 1);
  const std::int64_t head = std::min(bytes, before);
  std::memcpy(to, from, std::size_t(head));
  std::int64_t i = head;
  for (; i + Tuning::kLine <= bytes; i += Tuning::kLine) {
    for (std::int64_t k = 0; k < Tuning::kLine; k += lanes) {
      hn::Stream(hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(from + i + k)), d,
                 reinterpret_cast<std::uint8_t*>(to + i + k));
    }
  }
  std::memcpy(to + i, from + i, std::size_t(bytes - i));
}

HWY_INLINE void store_bytes(const std::byte* from, std::int64_t bytes, std::byte* to, bool stream) {
  if (stream) {
    stream_bytes(from, bytes, to);
  } else {
    std::memcpy(to, from, std::size_t(bytes));
  }
}

/// How a panel is cut into tiles and these are transposed.
struct Tiling {
  StageTile stage = nullptr;
  std::int64_t rows = 0, cols = 0;  ///< of a tile at most
  bool lines = false;               ///< tiles whose rows are whole lines may go from registers to memory
  bool gapless_rows = false;   ///< the input is one run of bytes, of which the tile's first address is enough
  bool whole_columns = false;  ///< the tile's result has no gaps and is stored in one go
};

/// Pixels of two to four values without a gap between them.
bool stages_planes([[maybe_unused]] const Panel& panel) {
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
  if (stages_planes(panel)) return kPlanes[panel.cols - 2];
  return stage_vectors<T>;
#endif
}

StageTile stage_of(const Panel& panel, bool whole_columns) {
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

/// The tile is transposed in registers by vectors that are whole lines.
bool stages_blocks([[maybe_unused]] StageTile stage) {
#if HWY_TARGET == HWY_SCALAR
  return false;
#else
  return hn::Lanes(hn::ScalableTag<std::uint8_t>()) == Tuning::kLine &&
         (stage == stage_vectors<std::uint8_t> || stage == stage_vectors<std::uint16_t> ||
          stage == stage_vectors<std::uint32_t> || stage == stage_vectors<std::uint64_t>);
#endif
}

/// Past the buffer, if the result is made of whole lines.
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

Tiling tiling_of(const Panel& panel) {
  const std::int64_t bytes = panel.element_bytes;
  Tiling tiling;
  tiling.whole_columns =
      panel.rows * bytes <= Tuning::kOutputRun && panel.out.evenly_spaced(panel.rows * bytes);
  tiling.stage = stage_of(panel, tiling.whole_columns);
  tiling.lines = !tiling.whole_columns && stages_blocks(tiling.stage) &&
                 panel.out.evenly_spaced(panel.out.row_bytes) && panel.out.row_bytes % Tuning::kLine == 0;
  if (tiling.whole_columns) {
    tiling.rows = panel.rows;
    tiling.cols =
        std::min(panel.cols, Tuning::kStaged / 2 / (panel.rows * bytes) / Tuning::kLine * Tuning::kLine);
    tiling.cols = std::max<std::int64_t>(tiling.cols, std::min<std::int64_t>(panel.cols, 16));
    return tiling;
  }
  tiling.cols = std::min(panel.cols, std::max<std::int64_t>(1, Tuning::kInputRun / bytes));
  if (stages_planes(panel)) {
    tiling.gapless_rows = true;
    tiling.rows = Tuning::kPlaneRun / bytes;
    return tiling;
  }
  const std::int64_t run = Tuning::kStaged / tiling.cols - Tuning::kLine;
  tiling.rows =
      std::max<std::int64_t>(1, std::min(run, Tuning::kOutputRun) / Tuning::kLine * Tuning::kLine / bytes);
  return tiling;
}

/// Transposes by tiles, along the input's rows first.
void transpose_tiles(const Panel& panel, bool stream) {
  alignas(64) std::byte staged[Tuning::kStaged];
  const std::byte* in_rows[Tuning::kTileRows];
  std::byte* out_rows[Tuning::kInputRun];
  const Tiling tiling = tiling_of(panel);
  const std::int64_t bytes = panel.element_bytes;
  Tile tile{.rows_data = in_rows, .element_bytes = bytes, .staged = staged};
  const std::int64_t phase = tiling.whole_columns ? 0 : panel.line_phase() % tiling.rows;
  std::int64_t next_row = 0;
  for (std::int64_t row = 0; row < panel.rows; row = next_row) {
    next_row = std::min(panel.rows, row == 0 ? tiling.rows - phase : row + tiling.rows);
    tile.rows = next_row - row;
    tile.staged_pitch = tiling.whole_columns ? tile.rows * bytes : tiling.rows * bytes + Tuning::kLine;
    panel.in.fill(row, tiling.gapless_rows ? 1 : tile.rows, in_rows);
    for (std::int64_t col = 0; col < panel.cols; col += tiling.cols) {
      tile.cols = std::min(tiling.cols, panel.cols - col);
      tile.offset = col * bytes;
      tile.next_bytes = std::min(tiling.cols, panel.cols - col - tile.cols) * bytes;
      if (stream && tiling.lines &&
          stage_lines(tiling.stage, tile, panel.out.at(col) + row * bytes, panel.out.row_bytes)) {
        continue;
      }
      tiling.stage(tile);
      if (tiling.whole_columns) {
        store_bytes(staged, tile.cols * tile.rows * bytes, panel.out.at(col), stream);
        continue;
      }
      panel.out.fill(col, tile.cols, out_rows);
      for (std::int64_t i = 0; i < tile.cols; ++i) {
        store_bytes(staged + i * tile.staged_pitch, tile.rows * bytes, out_rows[i] + row * bytes, stream);
      }
    }
  }
}

/// Elements long enough to be stored as they are read.
void transpose_large_elements(const Panel& panel, bool stream) {
  for (std::int64_t col = 0; col < panel.cols; ++col) {
    std::byte* const to = panel.out.at(col);
    for (std::int64_t row = 0; row < panel.rows; ++row) {
      store_bytes(panel.in.at(row) + col * panel.element_bytes, panel.element_bytes,
                  to + row * panel.element_bytes, stream);
    }
  }
}

/// Matrices of a few elements, one after another.
template <int kWord, int kBytes>
void transpose_tiny(const Panel& panel, std::int64_t items, std::int64_t in_item_bytes,
                    std::int64_t out_item_bytes) {
  const std::int64_t bytes = kBytes > 0 ? kBytes : panel.element_bytes;
  const std::byte* in = panel.in.at(0);
  std::byte* out = panel.out.at(0);
  for (std::int64_t item = 0; item < items; ++item, in += in_item_bytes, out += out_item_bytes) {
    for (std::int64_t col = 0; col < panel.cols; ++col) {
      const std::byte* from = in + col * bytes;
      std::byte* to = out + col * panel.out.row_bytes;
      for (std::int64_t row = 0; row < panel.rows; ++row, from += panel.in.row_bytes, to += bytes) {
        copy_element<kWord, kBytes>(from, bytes, to);
      }
    }
  }
}

using TransposeTiny = void (*)(const Panel&, std::int64_t, std::int64_t, std::int64_t);

/// Nothing for elements that panels copy well enough.
TransposeTiny tiny_of(std::int64_t element_bytes) {
  switch (element_bytes) {
    case 1:
      return transpose_tiny<1, 1>;
    case 2:
      return transpose_tiny<2, 2>;
    case 4:
      return transpose_tiny<4, 4>;
    case 8:
      return transpose_tiny<8, 8>;
    default:
      break;
  }
  if (element_bytes == 3) return transpose_tiny<2, 0>;
  if (element_bytes < 8) return transpose_tiny<4, 0>;
  if (element_bytes < 16) return transpose_tiny<8, 0>;
  return element_bytes <= 32 ? transpose_tiny<16, 0> : nullptr;
}

void transpose_panel(const Panel& panel, bool stream) {
  if (panel.rows == 1 && panel.out.evenly_spaced(panel.element_bytes)) {
    store_bytes(panel.in.at(0), panel.bytes(), panel.out.at(0), stream);
  } else if (panel.cols == 1 && panel.in.evenly_spaced(panel.element_bytes)) {
    store_bytes(panel.in.at(0), panel.bytes(), panel.out.at(0), stream);
  } else if (panel.element_bytes >= Tuning::kLargeElement) {
    transpose_large_elements(panel, stream);
  } else {
    transpose_tiles(panel, stream);
  }
}

void transpose_piece(const PanelPieces& pieces, std::int64_t index) {
  const PanelPiece piece = pieces.piece(index);
  const Panel first = pieces.panel(piece.first_item, piece);
  const TransposeTiny tiny = tiny_of(first.element_bytes);
  if (piece.items > 1 && piece.rows * piece.cols <= Tuning::kTinyMatrix && tiny != nullptr) {
    return tiny(first, piece.items, pieces.in_item_bytes(), pieces.out_item_bytes());
  }
  for (std::int64_t i = 0; i < piece.items; ++i) {
    transpose_panel(pieces.panel(piece.first_item + i, piece), pieces.streams());
  }
  if (pieces.streams()) hwy::FlushStream();
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
