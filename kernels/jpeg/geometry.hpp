// Where the blocks of a JPEG's components lie while it is decoded. The same source for a GPU and for a thread
// of the host.
#pragma once

#include <cstdint>

#include "core/encoded_tiles.hpp"
#include "kernels/codec/thread_group.hpp"

namespace sepconv::jpeg {

inline constexpr int kSide = 8;                        ///< of a block
inline constexpr int kCoefficients = 64;               ///< of a block
inline constexpr std::int64_t kBlockBytes = 128;       ///< coefficients, later 64 samples in their place
inline constexpr std::int64_t kMaxCoefficient = 4095;  ///< dequantised; of 8-bit pixels below 1500

/// For a JPEG of one component, or of three of which the first has `across` x `down` samples to one of the
/// others. Blocks of a component lie row by row, components one after the other, with what fills up the units
/// that a scan goes in (MCU, ITU-T T.81, A.2.3).
struct Geometry {
  std::int32_t rows, cols;
  std::int32_t components, across, down;

  SEPCONV_HOST_DEVICE std::int32_t mcu_rows() const { return (rows + kSide * down - 1) / (kSide * down); }
  SEPCONV_HOST_DEVICE std::int32_t mcu_cols() const { return (cols + kSide * across - 1) / (kSide * across); }
  SEPCONV_HOST_DEVICE std::int32_t mcu_count() const { return mcu_rows() * mcu_cols(); }
  SEPCONV_HOST_DEVICE std::int32_t blocks() const { return mcu_count() * (across * down + components - 1); }
  SEPCONV_HOST_DEVICE std::int32_t blocks_across(int component) const {
    return component == 0 ? mcu_cols() * across : mcu_cols();
  }
  SEPCONV_HOST_DEVICE std::int32_t first_block(int component) const {
    return component == 0 ? 0 : mcu_count() * (across * down + component - 1);
  }
};

/// For tiles that can_decode_tiles(), a tile of which has this many rows.
inline Geometry geometry_of(const EncodedTiles& tiles, std::int64_t rows) noexcept {
  return {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(tiles.tile.cols),
          static_cast<std::int32_t>(tiles.channels), static_cast<std::int32_t>(tiles.chroma_cols),
          static_cast<std::int32_t>(tiles.chroma_rows)};
}

}  // namespace sepconv::jpeg
