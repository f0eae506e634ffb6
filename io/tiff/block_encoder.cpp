#include "io/tiff/block_encoder.hpp"

#include <utility>

#include "io/deflate/deflater.hpp"
#include "io/tiff/block_pixels.hpp"
#include "io/tiff/tiff_handle.hpp"
#include "io/zstd/raster_coder.hpp"
#include "io/zstd/zstd_coder.hpp"

namespace sepconv {
namespace {

std::int64_t encoder_memory_bytes(const BlockFormat& format) {
  constexpr std::int64_t kMiB = 1 << 20;
  switch (format.compression) {
    case COMPRESSION_ADOBE_DEFLATE:
      return deflate::Deflater::memory_bytes(*format.level);
    case COMPRESSION_ZSTD:
      return *format.level == zstd::kFast ? zstd::RasterCoder::memory_bytes()
                                          : ZstdEncoder::memory_bytes(*format.level, format.bytes());
    case COMPRESSION_LZW:
      return kMiB / 4;  // a hash table of 9001 entries
    case COMPRESSION_JPEG:
      return kMiB + 64 * format.row_bytes();
    default:
      return 0;
  }
}

}  // namespace

std::unique_ptr<BlockEncoder> BlockEncoder::make(const BlockFormat& format, std::string name) {
  if (format.compression == COMPRESSION_ADOBE_DEFLATE || format.compression == COMPRESSION_ZSTD)
    return make_predicted_encoder(format);
  return make_libtiff_encoder(format, std::move(name));
}

void BlockEncoder::encode(const ConstPixelView& pixels, std::int64_t channel, EncodedBlock& encoded) {
  if (encoded.memory.size() < format_.max_encoded_bytes())
    encoded.memory = Buffer(format_.max_encoded_bytes());
  encoded.size = 0;
  const bool is_whole = channel == kAllChannels && format_.type.is_pixels() &&
                        pixels.extent == format_.extent && !format_.has_signed_ab();
  if (is_whole && append_whole(pixels, encoded)) return;
  copy_to_block(pixels, format_.type, channel, block(), format_.row_bytes());
  for (std::int64_t row = 0; format_.has_signed_ab() && row < pixels.extent.rows; ++row)
    shift_ab(format_, channel, pixels.extent.cols * format_.channels, block() + row * format_.row_bytes());
  pad_block(block(), format_, pixels.extent);
  append_to(encoded);
}

std::byte* BlockEncoder::block() {
  if (block_.size() == 0) block_ = Buffer(format_.bytes());
  return block_.data();
}

std::int64_t BlockEncoder::memory_bytes(const BlockFormat& format) {
  // Pixels, the predictor's copy of them, libtiff's raw buffer with its margin.
  return kHandleBytes + 3 * format.bytes() + format.bytes() / 8 + encoder_memory_bytes(format);
}

}  // namespace sepconv
