#include "sepconv/io/tiff/block_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "sepconv/core/error.hpp"
#include "sepconv/io/tiff/one_block_tiff.hpp"

namespace sepconv {
namespace {

/// A file in memory that is only read.
class ConstantBytes final : public TiffBytes {
 public:
  explicit ConstantBytes(std::vector<std::byte> content) : content_(std::move(content)) {}

  std::int64_t read_some(std::int64_t offset, std::span<std::byte> bytes) override {
    const std::int64_t count =
        std::clamp<std::int64_t>(size() - offset, 0, static_cast<std::int64_t>(bytes.size()));
    if (count > 0) std::memcpy(bytes.data(), content_.data() + offset, static_cast<std::size_t>(count));
    return count;
  }
  void write(std::int64_t, std::span<const std::byte>) override {
    throw std::logic_error("a decoder's directory is not written");
  }
  std::int64_t size() override { return static_cast<std::int64_t>(content_.size()); }

 private:
  std::vector<std::byte> content_;
};

/// What the codec itself holds, from its sources: tables and windows; a progressive JPEG keeps the
/// coefficients of its block, which libtiff refuses beyond 100 MiB.
std::int64_t codec_bytes(const BlockFormat& format) {
  constexpr std::int64_t kKiB = 1 << 10;
  constexpr std::int64_t kMiB = 1 << 20;
  switch (format.compression) {
    case COMPRESSION_LZW:
      return 128 * kKiB;
    case COMPRESSION_ZSTD:
      return format.bytes() + 512 * kKiB;  // of the window only what a block fills is ever touched
    case COMPRESSION_JPEG:
      return std::min(2 * format.bytes(), 100 * kMiB) + 64 * format.row_bytes() + kMiB;
    default:
      return 64 * kKiB;
  }
}

constexpr std::int64_t kHandleBytes = 64 << 10;

}  // namespace

BlockDecoder::BlockDecoder(const BlockFormat& format, std::string name)
    : block_bytes_(format.bytes()),
      directory_(std::make_unique<ConstantBytes>(one_block_tiff(format))),
      handle_(*directory_, std::move(name), "r", std::max<std::int64_t>(16 << 20, 2 * format.bytes())) {
  if (format.compression == COMPRESSION_JPEG && format.photometric == PHOTOMETRIC_YCBCR) {
    handle_.check(TIFFSetField(handle_.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0,
                  "cannot deliver YCbCr as RGB");
  }
}

BlockDecoder::~BlockDecoder() = default;

std::span<std::byte> BlockDecoder::encoded(std::int64_t bytes) {
  if (encoded_.size() < bytes) {
    encoded_ = {};  // before the larger one is made: the two together are not in the plan
    encoded_ = Buffer(round_up(bytes, 64 << 10));
  }
  encoded_bytes_ = bytes;
  return encoded_.bytes().first(static_cast<std::size_t>(bytes));
}

std::span<std::byte> BlockDecoder::scratch() {
  if (scratch_.size() == 0) scratch_ = Buffer(block_bytes_);
  return scratch_.bytes();
}

void BlockDecoder::decode(std::span<std::byte> out, const std::string& what) {
  handle_.clear_messages();
  const int decoded = TIFFReadFromUserBuffer(handle_.get(), 0, encoded_.data(), encoded_bytes_, out.data(),
                                             static_cast<tmsize_t>(out.size()));
  handle_.check(decoded != 0, what);
  if (!handle_.jpeg_complaint().empty())
    throw IoError(handle_.name() + ": " + what + ": " + handle_.jpeg_complaint());
}

std::int64_t BlockDecoder::memory_bytes(const BlockFormat& format) {
  return kHandleBytes + static_cast<std::int64_t>(2 * format.jpeg_tables.size()) + 8 * format.channels +
         round_up(format.max_encoded_bytes(), 64 << 10) + format.bytes() + codec_bytes(format);
}

}  // namespace sepconv
