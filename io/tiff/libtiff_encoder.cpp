#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "io/tiff/block_encoder.hpp"
#include "io/tiff/tiff_handle.hpp"

namespace sepconv {
namespace {

/// Collects the bytes of a block, which libtiff writes in order; header and directory are discarded.
class Collector final : public TiffBytes {
 public:
  void collect_into(EncodedBlock* target) noexcept { target_ = target; }

  std::int64_t read_some(std::int64_t, std::span<std::byte>) override { return 0; }
  void write(std::int64_t, std::span<const std::byte> bytes) override {
    if (target_ == nullptr) return;
    const auto count = static_cast<std::int64_t>(bytes.size());
    if (count > target_->memory.size() - target_->size)
      throw IoError("an encoder wrote more bytes than its codec allows; choose another compression");
    std::memcpy(target_->memory.data() + target_->size, bytes.data(), bytes.size());
    target_->size += count;
  }
  std::int64_t size() override { return 16; }  // a valid offset for a strip; 0 means that it is missing

 private:
  EncodedBlock* target_ = nullptr;
};

void set_codec(const TiffHandle& handle, const BlockFormat& format) {
  TIFF* tiff = handle.get();
  bool set = TIFFSetField(tiff, TIFFTAG_COMPRESSION, format.compression) != 0;
  if (has_predictor(format.compression))
    set = set && TIFFSetField(tiff, TIFFTAG_PREDICTOR, format.predictor) != 0;
  if (format.compression == COMPRESSION_JPEG) {
    set = set && TIFFSetField(tiff, TIFFTAG_JPEGQUALITY, *format.level) != 0 &&
          TIFFSetField(tiff, TIFFTAG_JPEGTABLESMODE, 0) != 0;
    if (format.photometric == PHOTOMETRIC_YCBCR)
      set = set && TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0 &&
            TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, static_cast<int>(format.subsampling[0]),
                         static_cast<int>(format.subsampling[1])) != 0;
  }
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

/// A libtiff handle on a file in memory, which has the block as its only strip.
class LibtiffEncoder final : public BlockEncoder {
 public:
  LibtiffEncoder(const BlockFormat& format, std::string name)
      : BlockEncoder(format),
        handle_(collector_, std::move(name), "w", std::max<std::int64_t>(16 << 20, 2 * format.bytes())) {
    set_fields(handle_, format);
    set_codec(handle_, format);
  }

 private:
  void append_to(EncodedBlock& encoded) override {
    handle_.clear_messages();
    collector_.collect_into(&encoded);
    const auto bytes = static_cast<tmsize_t>(format().bytes());
    const tmsize_t written = TIFFWriteEncodedStrip(handle_.get(), 0, block(), bytes);
    collector_.collect_into(nullptr);
    handle_.check(written == bytes, "cannot encode a block");
  }

  Collector collector_;
  TiffHandle handle_;
};

}  // namespace

std::unique_ptr<BlockEncoder> make_libtiff_encoder(const BlockFormat& format, std::string name) {
  return std::make_unique<LibtiffEncoder>(format, std::move(name));
}

}  // namespace sepconv
