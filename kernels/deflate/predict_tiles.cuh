// Copies pixels into tiles for compression: pads them and applies the predictor. The same as pad_block() and
// apply_predictor() on the CPU.
#pragma once

#include <cuda_runtime.h>

#include "kernels/cuda/device_pixel.cuh"
#include "kernels/deflate/device_tiles.cuh"

namespace sepconv::deflate {

/// A row of a tile: its elements inside the image, then the fill value or the last pixel's elements.
template <class Word>
struct TileRow {
  const Word* values;
  std::int64_t valid;  ///< elements inside the image
  std::int64_t count, channels;
  bool fills;
  Word fill;

  __device__ Word at(std::int64_t i) const {
    return i < valid ? values[i] : fills ? fill : values[valid - channels + i % channels];
  }
  /// Byte `i` of a byte plane of the row; plane 0 has the most significant bytes.
  __device__ unsigned plane_byte(unsigned plane, std::int64_t i) const {
    return static_cast<unsigned>(at(i) >> (8 * (sizeof(Word) - 1 - plane))) & 0xFF;
  }
};

template <class Word>
__device__ void write_differences(const TileRow<Word>& row, bool differences, Word* to) {
  for (std::int64_t i = threadIdx.x; i < row.count; i += kThreads) {
    const bool has_before = differences && i >= row.channels;
    to[i] = static_cast<Word>(row.at(i) - (has_before ? row.at(i - row.channels) : Word{0}));
  }
}

template <class Word>
__device__ void write_planes(const TileRow<Word>& row, std::uint8_t* to) {
  for (unsigned plane = 0; plane < sizeof(Word); ++plane) {
    for (std::int64_t i = threadIdx.x; i < row.count; i += kThreads) {
      const unsigned before = i >= row.channels ? row.plane_byte(plane, i - row.channels)
                              : plane > 0       ? row.plane_byte(plane - 1, row.count + i - row.channels)
                                                : 0;
      to[plane * row.count + i] = static_cast<std::uint8_t>(row.plane_byte(plane, i) - before);
    }
  }
}

/// Blocks stride over the rows of all tiles.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    predict_tiles(const device::Rows in, std::int64_t part_cols, std::int64_t tile_cols,
                  std::int64_t channels, int predictor, bool fills, Word fill, const DeviceTiles tiles) {
  for (std::int64_t number = blockIdx.x; number < tiles.tiles * tiles.rows; number += gridDim.x) {
    const std::int64_t tile = number / tiles.rows, y = number % tiles.rows;
    if (y >= tiles.rows_of(tile)) continue;
    const std::int64_t image_row = tile / tiles.tiles_across * tiles.rows + y;
    const std::int64_t col = tile % tiles.tiles_across * tile_cols;
    const bool is_inside = image_row < tiles.part_rows;
    const std::int64_t left = is_inside || !fills ? part_cols - col : 0;
    const TileRow<Word> row{in.row<const Word>(is_inside ? image_row : tiles.part_rows - 1) + col * channels,
                            (left < tile_cols ? left : tile_cols) * channels,
                            tile_cols * channels,
                            channels,
                            fills,
                            fill};
    std::byte* const to = tiles.predicted + tile * tiles.pitch_bytes + y * tiles.row_bytes;
    if (predictor == 3) {
      write_planes(row, reinterpret_cast<std::uint8_t*>(to));
    } else {
      write_differences(row, predictor == 2, reinterpret_cast<Word*>(to));
    }
  }
}

}  // namespace sepconv::deflate
