#include "io/tiff/block_format.hpp"

#include <tiff.h>

namespace sepconv {

std::int64_t BlockFormat::max_encoded_bytes() const noexcept {
  constexpr std::int64_t kHeaders = 64 << 10;
  return (compression == COMPRESSION_JPEG ? 3 * bytes() : bytes() + bytes() / 2) + kHeaders;
}

std::int64_t BlockFormat::min_encoded_bytes() const noexcept {
  switch (compression) {
    case COMPRESSION_PACKBITS:
      return bytes() / 64;  // 2 bytes for a run of at most 128
    case COMPRESSION_LZW:
      return bytes() / 4096;  // 9 to 12 bits for a string of the table, which has 4096 entries
    case COMPRESSION_ZSTD:
      return bytes() / (1 << 16);  // 4 bytes for a constant part of 128 KiB
    case COMPRESSION_JPEG:
      return bytes() / (1 << 16);  // a progressive scan skips 32767 empty parts of 64 at once
    default:
      return bytes() / 1040;  // deflate: 2 bits for a match of 258
  }
}

std::uint16_t sample_format(SampleType type) noexcept {
  switch (type.kind) {
    case SampleType::Kind::integer:
      return SAMPLEFORMAT_INT;
    case SampleType::Kind::floating:
      return SAMPLEFORMAT_IEEEFP;
    case SampleType::Kind::complex:
      return SAMPLEFORMAT_COMPLEXIEEEFP;
    default:
      return SAMPLEFORMAT_UINT;
  }
}

bool has_predictor(std::uint16_t compression) noexcept {
  return compression == COMPRESSION_LZW || compression == COMPRESSION_ADOBE_DEFLATE ||
         compression == COMPRESSION_DEFLATE || compression == COMPRESSION_ZSTD;
}

}  // namespace sepconv
