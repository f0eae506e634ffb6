#include "sepconv/io/tiff/block_encoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "sepconv/core/error.hpp"

namespace sepconv {

/// The file in memory: of all that libtiff writes, a block's bytes are kept, which come in order; header and
/// directory are not.
class BlockEncoder::Collector final : public TiffBytes {
 public:
  void collect_into(EncodedBlock* target) noexcept { target_ = target; }

  std::int64_t read_some(std::int64_t, std::span<std::byte>) override { return 0; }
  void write(std::int64_t, std::span<const std::byte> bytes) override {
    if (target_ == nullptr) return;
    const auto count = static_cast<std::int64_t>(bytes.size());
    if (count > target_->memory.size() - target_->size)
      throw IoError("an encoder made more bytes than its codec can; choose another compression");
    std::memcpy(target_->memory.data() + target_->size, bytes.data(), bytes.size());
    target_->size += count;
  }
  std::int64_t size() override { return 16; }  // where a strip may begin: not 0, which means "nowhere"

 private:
  EncodedBlock* target_ = nullptr;
};

namespace {

void set_codec(const TiffHandle& handle, const BlockFormat& format) {
  TIFF* tiff = handle.get();
  bool set = TIFFSetField(tiff, TIFFTAG_COMPRESSION, format.compression) != 0;
  if (has_predictor(format.compression))
    set = set && TIFFSetField(tiff, TIFFTAG_PREDICTOR, format.predictor) != 0;
  if (format.compression == COMPRESSION_JPEG) {
    set = set && TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, format.level) != 0 &&
          TIFFSetField(tiff, TIFFTAG_JPEGTABLESMODE, 0) != 0;
    if (format.photometric == PHOTOMETRIC_YCBCR)
      set = set && TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0;
  }
  if (format.compression == COMPRESSION_ADOBE_DEFLATE)
    set = set && TIFFSetField(tiff, TIFFTAG_ZIPQUALITY, format.level) != 0;
  if (format.compression == COMPRESSION_ZSTD)
    set = set && TIFFSetField(tiff, TIFFTAG_ZSTD_LEVEL, format.level) != 0;
  handle.check(set, "cannot set up its compression");
}

void set_fields(const TiffHandle& handle, const BlockFormat& format) {
  TIFF* tiff = handle.get();
  const bool set =
      TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(format.extent.cols)) != 0 &&
      TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<std::uint32_t>(format.extent.rows)) != 0 &&
      TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<std::uint32_t>(format.extent.rows)) != 0 &&
      TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, static_cast<int>(format.channels)) != 0 &&
      TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, format.type.bits) != 0 &&
      TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, sample_format(format.type)) != 0 &&
      TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG) != 0 &&
      TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, format.photometric) != 0;
  handle.check(set, "cannot describe its blocks");
}

/// ZSTD_estimateCStreamSize by level and the size of libdeflate's compressors, measured (zstd 1.5.4,
/// libdeflate 1.14) and rounded up.
std::int64_t encoding_bytes(const BlockFormat& format) {
  constexpr std::int64_t kMiB = 1 << 20;
  switch (format.compression) {
    case COMPRESSION_ADOBE_DEFLATE:
      return format.level < 10 ? kMiB : 10 * kMiB;
    case COMPRESSION_ZSTD: {
      constexpr std::int64_t kByLevel[] = {4,  2,  2,  4,  5,  6,  6,  9,  9,   17,  29, 29,
                                           53, 53, 53, 69, 69, 69, 69, 90, 194, 386, 778};
      return kByLevel[std::clamp(format.level, 0, 22)] * kMiB;
    }
    case COMPRESSION_LZW:
      return kMiB / 4;  // a hash table of 9001 entries
    case COMPRESSION_JPEG:
      return kMiB + 64 * format.row_bytes();
    default:
      return 0;
  }
}

}  // namespace

BlockEncoder::BlockEncoder(const BlockFormat& format, std::string name)
    : format_(format),
      collector_(std::make_unique<Collector>()),
      handle_(*collector_, std::move(name), "w", std::max<std::int64_t>(16 << 20, 2 * format.bytes())),
      pixels_(format.bytes()) {
  set_fields(handle_, format_);
  set_codec(handle_, format_);
}

BlockEncoder::~BlockEncoder() = default;

void BlockEncoder::encode(EncodedBlock& encoded) {
  if (encoded.memory.size() < format_.max_encoded_bytes())
    encoded.memory = Buffer(format_.max_encoded_bytes());
  encoded.size = 0;
  handle_.clear_messages();
  collector_->collect_into(&encoded);
  const tmsize_t taken =
      TIFFWriteEncodedStrip(handle_.get(), 0, pixels_.data(), static_cast<tmsize_t>(format_.bytes()));
  collector_->collect_into(nullptr);
  handle_.check(taken == static_cast<tmsize_t>(format_.bytes()), "cannot encode a block");
}

std::int64_t BlockEncoder::memory_bytes(const BlockFormat& format) {
  // Pixels, the predictor's copy of them, libtiff's raw buffer with its margin.
  return kHandleBytes + 3 * format.bytes() + format.bytes() / 8 + encoding_bytes(format);
}

}  // namespace sepconv
