// Layout of the blocks of a JPEG's components during decoding. The same source for a GPU and for a host
// thread.
#pragma once

#include <cstdint>

#include "core/encoded_tiles.hpp"
#include "core/host_device.hpp"
#include "kernels/codec/thread_group.hpp"

namespace sepconv::jpeg {

inline constexpr int kSide = 8;                        ///< of a block
inline constexpr int kCoefficients = 64;               ///< of a block
inline constexpr std::int64_t kBlockBytes = 128;       ///< coefficients, later overwritten by 64 samples
inline constexpr std::int64_t kMaxCoefficient = 4095;  ///< dequantised; below 1500 for 8-bit pixels

/// A JPEG of one component, or of three whose first has `across` x `down` samples per sample of the others.
/// The blocks of a component are in row-major order, components one after another, including the padding
/// blocks of incomplete MCUs (ITU-T T.81, A.2.3).
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

/// Geometry of a tile with this many rows; can_decode_tiles() must hold for `tiles`.
inline Geometry geometry_of(const EncodedTiles& tiles, std::int64_t rows) noexcept {
  return {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(tiles.tile.cols),
          static_cast<std::int32_t>(tiles.channels), static_cast<std::int32_t>(tiles.chroma_cols),
          static_cast<std::int32_t>(tiles.chroma_rows)};
}

}  // namespace sepconv::jpeg
