#include <algorithm>

#include "sepconv/io/deflate/deflater.hpp"
#include "sepconv/io/tiff/block_encoder.hpp"
#include "sepconv/io/tiff/predictor.hpp"

namespace sepconv {
namespace {

class DeflateEncoder final : public BlockEncoder {
 public:
  explicit DeflateEncoder(const BlockFormat& format)
      : BlockEncoder(format),
        deflater_(*format.level),
        differences_(format.predictor == 1 ? 0 : format.bytes()) {}

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
    const std::int64_t pixel_bytes = format().type.bytes_of(format().channels);
    encoded.size = deflater_.encode({rows, static_cast<std::size_t>(format().bytes())},
                                    {std::max<std::int64_t>(1, pixel_bytes), format().row_bytes()},
                                    encoded.memory.bytes());
  }

  deflate::Deflater deflater_;
  Buffer differences_;
};

}  // namespace

std::unique_ptr<BlockEncoder> make_deflate_encoder(const BlockFormat& format) {
  return std::make_unique<DeflateEncoder>(format);
}

}  // namespace sepconv
