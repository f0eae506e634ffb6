// Transposition of elements of any size, at any address, in matrices of any shape (StagedJob of tiles.hpp):
// pieces of the input are copied to shared memory unchanged, and every thread gathers aligned words of the
// output from there.
#pragma once

#include "kernels/transpose/device_tiles.cuh"

namespace sepconv::transposing {

constexpr int kStagedThreads = 256;
constexpr int kStagedLoads = 8;  // per thread, before the first store

/// Positions of a tile in shared memory.
template <int Unit>
struct StagedTile {
  static constexpr int kWord = Unit < 4 ? 4 : Unit;
  const StagedJob& params;
  unsigned misaligned;  // bytes from the aligned word to the tile's first piece

  /// Bytes from the aligned word to the begin of a row: the row's address modulo 4, because whole words are
  /// loaded.
  __device__ unsigned shift(unsigned item, unsigned row) const {
    if (Unit >= 4) return 0;
    return (misaligned + item * static_cast<unsigned>(params.job.in_item) +
            row * static_cast<unsigned>(params.job.in_pitch)) &
           3U;
  }
  /// Position of byte `offset` of the staged data, with padding.
  __device__ unsigned padded(unsigned offset) const {
    return offset + (offset >> params.bytes_per_pad_log2) * kWord;
  }
  __device__ unsigned row_offset(unsigned item, unsigned row) const {
    return item * params.item_bytes + row * params.row_bytes + (row >> params.rows_per_skew_log2) * 4;
  }
};

/// Block: kStagedThreads. Grid: one block per tile. Dynamic shared memory: params.shared_bytes.
template <int Unit>
__global__ void __launch_bounds__(kStagedThreads, 6) transpose_staged(const StagedJob params) {
  using Tile = StagedTile<Unit>;
  using T = Word<Tile::kWord>;
  using U = Word<Unit>;
  constexpr int kWord = Tile::kWord;
  constexpr int kUnits = kWord / Unit;
  extern __shared__ uint4 staged_memory[];
  std::byte* const staged = reinterpret_cast<std::byte*>(staged_memory);

  const Job& job = params.job;
  const TilePosition at = tile_position(job.grid, blockIdx.x);
  const std::int64_t first_item = static_cast<std::int64_t>(at.item) * params.tile_items;
  const std::int64_t first_row = static_cast<std::int64_t>(at.row) * params.tile_rows;
  const std::int64_t first_col = static_cast<std::int64_t>(at.col) * params.tile_cols;
  const unsigned items = clamped_count(job.items - first_item, params.tile_items);
  const unsigned rows = clamped_count(job.rows - first_row, params.tile_rows);
  const unsigned cols = clamped_count(job.cols - first_col, params.tile_cols);
  const unsigned element_bytes = params.element.value;
  const std::byte* const in =
      job.in + first_item * job.in_item + first_row * job.in_pitch + first_col * element_bytes;
  std::byte* const out =
      job.out + first_item * job.out_item + first_col * job.out_pitch + first_row * element_bytes;
  const bool in_rows_joined = params.in_pieces_per_item.value == 1 && params.tile_rows > 1;
  const Tile tile{params, static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(in)) & 3U};

  // Load. A piece is read in the words of device memory; at its ends only the bytes that belong to it are
  // read.
  const unsigned in_bytes = cols * element_bytes * (params.in_pieces_per_item.value == 1 ? rows : 1) *
                            (params.in_pieces == 1 ? items : 1);
  const unsigned in_words = params.in_pieces * params.in_words_per_piece.value;
  for (unsigned first = threadIdx.x; first < in_words; first += kStagedThreads * kStagedLoads) {
    T words[kStagedLoads];
    unsigned to[kStagedLoads];
#pragma unroll
    for (int k = 0; k < kStagedLoads; ++k) {
      const unsigned number = first + k * kStagedThreads;
      const unsigned piece = quotient(number, params.in_words_per_piece);
      const unsigned word = number - piece * params.in_words_per_piece.value;
      const unsigned item = quotient(piece, params.in_pieces_per_item);
      const unsigned row = piece - item * params.in_pieces_per_item.value;
      const bool inside = number < in_words && item < items && row < rows;
      const int offset =
          static_cast<int>(word * kWord) - static_cast<int>(tile.shift(item, row));  // within the piece
      const std::byte* const from = in + item * job.in_item + row * job.in_pitch + offset;
      to[k] = tile.padded(tile.row_offset(item, row) + word * kWord);
      words[k] = T{};
      if (inside && offset >= 0 && offset + kWord <= static_cast<int>(in_bytes)) {
        words[k] = *reinterpret_cast<const T*>(from);
      } else if (!inside || offset >= static_cast<int>(in_bytes)) {
        to[k] = ~0U;
      } else if constexpr (Unit < 4) {
        for (int i = 0; i < 4; ++i) {
          if (offset + i >= 0 && offset + i < static_cast<int>(in_bytes))
            words[k] |= static_cast<unsigned>(from[i]) << (8 * i);
        }
      }
    }
#pragma unroll
    for (int k = 0; k < kStagedLoads; ++k) {
      if (to[k] != ~0U) *reinterpret_cast<T*>(staged + to[k]) = words[k];
    }
  }
  __syncthreads();

  // Gather and store.
  const bool out_cols_joined = params.out_pieces_per_item.value == 1;
  const unsigned out_bytes =
      rows * element_bytes * (out_cols_joined ? cols : 1) * (params.out_pieces == 1 ? items : 1);
  const unsigned out_words = params.out_pieces * params.out_words_per_piece.value;
  const unsigned shift_items = params.in_pieces == 1 ? 0 : 1;
#pragma unroll 2
  for (unsigned number = threadIdx.x; number < out_words; number += kStagedThreads) {
    const unsigned piece = quotient(number, params.out_words_per_piece);
    const unsigned word = number - piece * params.out_words_per_piece.value;
    const unsigned piece_item = quotient(piece, params.out_pieces_per_item);
    const unsigned piece_col = piece - piece_item * params.out_pieces_per_item.value;
    if (piece_item >= items || piece_col >= cols) continue;
    std::byte* const piece_out = out + piece_item * job.out_item + piece_col * job.out_pitch;
    int offset = static_cast<int>(word * kWord);
    if (Unit < 4) offset -= static_cast<int>(reinterpret_cast<std::uintptr_t>(piece_out) & 3U);
    if (offset >= static_cast<int>(out_bytes)) continue;

    // The element that contains the word's first byte. The order along the output is: rows of the input, then
    // columns, then items.
    const unsigned begin = static_cast<unsigned>(max(offset, 0));
    unsigned row = quotient(begin, params.element);
    unsigned part = begin - row * element_bytes;
    unsigned col = quotient(row, params.rows);
    row -= col * params.rows.value;
    unsigned item = quotient(col, params.cols);
    col = col - item * params.cols.value + piece_col;
    item += piece_item;

    U units[kUnits];
#pragma unroll
    for (int u = 0; u < kUnits; ++u) {
      const int byte = offset + u * Unit;
      units[u] = U{};
      if (kUnits > 1 && (byte < 0 || byte >= static_cast<int>(out_bytes))) continue;
      const unsigned shift = tile.shift(item * shift_items, in_rows_joined ? 0 : row);
      units[u] = *reinterpret_cast<const U*>(
          staged + tile.padded(tile.row_offset(item, row) + shift + col * element_bytes + part));
      if (kUnits == 1) break;
      part += Unit;
      if (part < element_bytes) continue;
      part = 0;
      if (++row < params.rows.value) continue;
      row = 0;
      if (++col < params.cols.value) continue;
      col = 0;
      ++item;
    }
    std::byte* const to = piece_out + offset;
    if constexpr (kUnits == 1) {
      *reinterpret_cast<T*>(to) = units[0];
    } else {
      unsigned joined = 0;
#pragma unroll
      for (int u = 0; u < kUnits; ++u) joined |= static_cast<unsigned>(units[u]) << (8 * Unit * u);
      if (offset >= 0 && offset + kWord <= static_cast<int>(out_bytes)) {
        *reinterpret_cast<unsigned*>(to) = joined;
      } else {
        for (int i = 0; i < kWord; ++i) {
          if (offset + i >= 0 && offset + i < static_cast<int>(out_bytes))
            to[i] = static_cast<std::byte>(joined >> (8 * i));
        }
      }
    }
  }
}

}  // namespace sepconv::transposing
