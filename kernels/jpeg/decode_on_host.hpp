// All stages of JPEG decoding on a host thread: the same as on a GPU, for tests and for the simulated GPU.
#pragma once

#include "kernels/jpeg/inverse_dct.hpp"
#include "kernels/jpeg/pixels.hpp"
#include "kernels/jpeg/scan_decoder.hpp"

namespace sepconv::jpeg {

/// Decodes `stream` to `decoded`, rows without gaps. `coefficients`: kBlockBytes for each of the geometry's
/// blocks, aligned to 16 bytes. Returns false if the JPEG is refused; `decoded` is then undefined.
inline bool decode_on_host(const std::byte* stream, std::int64_t bytes, const Geometry& geometry,
                           bool is_ycbcr, std::byte* coefficients, std::byte* decoded) {
  Tables tables;
  if (!ScanDecoder<SingleThreadGroup>(stream, bytes, geometry, coefficients, tables).run()) return false;
  for (std::int32_t block = 0; block < geometry.blocks(); ++block)
    if (!inverse_dct(coefficients + block * kBlockBytes)) return false;
  auto* to = reinterpret_cast<std::uint8_t*>(decoded);
  for (std::int32_t row = 0; row < geometry.rows; ++row) {
    for (std::int32_t col = 0; col < geometry.cols; ++col, to += geometry.components)
      put_pixel(coefficients, geometry, is_ycbcr, row, col, to);
  }
  return true;
}

}  // namespace sepconv::jpeg
