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
  void append_to(EncodedBlock& encoded) override {
    std::span<const std::byte> bytes(pixels(), static_cast<std::size_t>(format().bytes()));
    if (differences_.size() > 0) {
      apply_predictor(bytes, differences_.bytes(), format());
      bytes = differences_.bytes();
    }
    const deflate::Raster raster{std::max<std::int64_t>(1, format().type.bytes_of(format().channels)),
                                 format().row_bytes()};
    encoded.size = deflater_.encode(bytes, raster, encoded.memory.bytes());
  }

  deflate::Deflater deflater_;
  Buffer differences_;
};

}  // namespace

std::unique_ptr<BlockEncoder> make_deflate_encoder(const BlockFormat& format) {
  return std::make_unique<DeflateEncoder>(format);
}

}  // namespace sepconv
