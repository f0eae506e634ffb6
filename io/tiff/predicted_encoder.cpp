#include <tiff.h>

#include <algorithm>

#include "io/deflate/deflater.hpp"
#include "io/tiff/block_encoder.hpp"
#include "io/tiff/predictor.hpp"
#include "io/zstd/raster_coder.hpp"
#include "io/zstd/zstd_coder.hpp"

namespace sepconv {
namespace {

deflate::MatchDistances match_distances_of(const BlockFormat& format) {
  return {std::max<std::int64_t>(1, format.type.bytes_of(format.channels)), format.row_bytes()};
}

template <class Coder>
std::int64_t encode(Coder& coder, std::span<const std::byte> in, const BlockFormat& format,
                    std::span<std::byte> out) {
  return coder.encode(in, match_distances_of(format), out);
}

std::int64_t encode(zstd::RasterCoder& coder, std::span<const std::byte> in, const BlockFormat& format,
                    std::span<std::byte> out) {
  return coder.encode(in, match_distances_of(format), true, out);
}

std::int64_t encode(ZstdEncoder& coder, std::span<const std::byte> in, const BlockFormat&,
                    std::span<std::byte> out) {
  return coder.encode(in, out);
}

/// Encodes what the predictor leaves of a block. The coder is constructed from a level or without arguments.
template <class Coder>
class PredictedEncoder final : public BlockEncoder {
 public:
  template <class... Level>
  explicit PredictedEncoder(const BlockFormat& format, Level... level)
      : BlockEncoder(format), coder_(level...), differences_(format.predictor == 1 ? 0 : format.bytes()) {}

 private:
  void append_to(EncodedBlock& encoded) override { append_rows(block(), format().row_bytes(), encoded); }

  bool append_whole(const ConstPixelView& pixels, EncodedBlock& encoded) override {
    const bool dense = pixels.pitch_bytes == format().row_bytes();
    if (differences_.size() == 0 && !dense) return false;
    append_rows(pixels.data, pixels.pitch_bytes, encoded);
    return true;
  }

  void append_rows(const std::byte* rows, std::int64_t pitch_bytes, EncodedBlock& encoded) {
    if (differences_.size() > 0) {
      apply_predictor(rows, pitch_bytes, differences_.data(), format());
      rows = differences_.data();
    }
    encoded.size = sepconv::encode(coder_, {rows, static_cast<std::size_t>(format().bytes())}, format(),
                                   encoded.memory.bytes());
  }

  Coder coder_;
  Buffer differences_;
};

}  // namespace

std::unique_ptr<BlockEncoder> make_predicted_encoder(const BlockFormat& format) {
  if (format.compression != COMPRESSION_ZSTD)
    return std::make_unique<PredictedEncoder<deflate::Deflater>>(format, *format.level);
  if (*format.level == zstd::kFast) return std::make_unique<PredictedEncoder<zstd::RasterCoder>>(format);
  return std::make_unique<PredictedEncoder<ZstdEncoder>>(format, *format.level);
}

}  // namespace sepconv
