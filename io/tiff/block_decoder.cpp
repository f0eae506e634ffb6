#include "io/tiff/block_decoder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/tiff/jpeg_stream.hpp"
#include "io/tiff/predictor.hpp"
#include "io/tiff/synthetic_tiff.hpp"

namespace sepconv {
namespace {

/// A read-only file in memory.
class ReadOnlyBytes final : public TiffBytes {
 public:
  explicit ReadOnlyBytes(std::vector<std::byte> content) : content_(std::move(content)) {}

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

/// Memory of the codec, according to its sources: tables and windows. A progressive JPEG keeps the
/// coefficients of its block, which libtiff limits to 100 MiB.
std::int64_t codec_memory_bytes(const BlockFormat& format) {
  constexpr std::int64_t kKiB = 1 << 10;
  constexpr std::int64_t kMiB = 1 << 20;
  switch (format.compression) {
    case COMPRESSION_LZW:
      return 128 * kKiB;
    case COMPRESSION_ZSTD:
      // A frame larger than its block, or libtiff's window, of which only the part that a block fills is
      // touched.
      return format.max_decoded_bytes() + 192 * kKiB;
    case COMPRESSION_JPEG:
      return std::min(2 * format.bytes(), 100 * kMiB) + 64 * format.row_bytes() + kMiB;
    case COMPRESSION_ADOBE_DEFLATE:
    case COMPRESSION_DEFLATE:
      return 64 * kKiB + deflate::Inflater::memory_bytes();
    default:
      return 64 * kKiB;
  }
}

bool is_deflate(std::uint16_t compression) {
  return compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE;
}

TiffHandle open_handle(const BlockFormat& format, TiffBytes& directory, std::string name) {
  TiffHandle handle(directory, std::move(name), "r", std::max<std::int64_t>(16 << 20, 2 * format.bytes()));
  if (format.compression == COMPRESSION_JPEG && format.photometric == PHOTOMETRIC_YCBCR) {
    handle.check(TIFFSetField(handle.get(), TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB) != 0,
                 "cannot deliver YCbCr as RGB");
  }
  // libtiff decodes only streams larger than the block. With zlib it fills the block or fails; with
  // libdeflate it silently leaves the rest of the block unchanged.
  if (is_deflate(format.compression)) {
    handle.check(TIFFSetField(handle.get(), TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB) != 0,
                 "cannot choose a decoder");
  }
  return handle;
}

}  // namespace

BlockDecoder::BlockDecoder(const BlockFormat& format, std::string name)
    : format_(format),
      directory_(std::make_unique<ReadOnlyBytes>(one_block_tiff(format))),
      handle_(open_handle(format, *directory_, std::move(name))) {
  if (can_decode_pairs(format)) inflater_ = std::make_unique<deflate::Inflater>();
  if (format.compression == COMPRESSION_ZSTD && format.fill_order == FILLORDER_MSB2LSB)
    zstd_ = std::make_unique<ZstdDecoder>();
}

bool BlockDecoder::can_decode_pairs(const BlockFormat& format) noexcept {
  return is_deflate(format.compression) && format.fill_order == FILLORDER_MSB2LSB;
}

BlockDecoder::~BlockDecoder() = default;

std::span<std::byte> BlockDecoder::encoded(std::int64_t bytes) {
  if (encoded_.size() < bytes) {
    encoded_ = {};  // freed first, since the memory plan does not include both
    encoded_ = Buffer(round_up(bytes, 64 << 10));
  }
  encoded_bytes_ = bytes;
  is_inflated_ = false;
  return encoded_.bytes().first(static_cast<std::size_t>(bytes));
}

std::span<std::byte> BlockDecoder::scratch() {
  if (scratch_.size() == 0) scratch_ = Buffer(format_.bytes());
  return scratch_.bytes();
}

void BlockDecoder::decode(std::span<std::byte> out, const std::string& context, bool is_last_strip) {
  if (decode_directly(out, context)) return;
  if (format_.compression == COMPRESSION_JPEG) {
    check_jpeg_extent(out, context, is_last_strip);
    discard_block_tables();
  }
  handle_.clear_messages();
  const int decoded = TIFFReadFromUserBuffer(handle_.get(), 0, encoded_.data(), encoded_bytes_, out.data(),
                                             static_cast<tmsize_t>(out.size()));
  handle_.check(decoded != 0, context);
  if (!handle_.jpeg_warning().empty())
    throw IoError(handle_.name() + ": " + context + ": " + handle_.jpeg_warning());
  // libtiff reports what libjpeg refuses after the last row, but returns success.
  handle_.check(handle_.message().empty(), context);
}

bool BlockDecoder::decode_directly(std::span<std::byte> out, const std::string& context) {
  if (zstd_) {
    unpack_zstd(out, context);
  } else if (!std::exchange(is_inflated_, false) && !(inflater_ && inflate(out, context))) {
    return false;
  }
  undo_predictor(out, format_);
  return true;
}

void BlockDecoder::decode_pair(BlockDecoder& first, std::span<std::byte> first_out, BlockDecoder& second,
                               std::span<std::byte> second_out) noexcept {
  if (!first.inflater_ || !second.inflater_) return;
  const auto is_decoded = deflate::Inflater::decode_two({*first.inflater_, first.stream(), first_out},
                                                        {*second.inflater_, second.stream(), second_out});
  first.is_inflated_ = is_decoded[0];
  second.is_inflated_ = is_decoded[1];
}

bool BlockDecoder::inflate(std::span<std::byte> out, const std::string& context) {
  using deflate::InflateStatus;
  switch (inflater_->decode(stream(), out, static_cast<std::size_t>(format_.max_decoded_bytes()))) {
    case InflateStatus::whole:
      return true;
    case InflateStatus::more:
      return false;
    case InflateStatus::over_limit:
      fail(context, "its deflate stream holds far more than its pixels");
    case InflateStatus::fewer:
      fail(context, "its deflate stream holds fewer pixels");
    default:
      fail(context, "its deflate stream is broken");
  }
}

// A damaged frame may be larger than its block. libtiff stops when the block is full; it would neither verify
// the checksum nor limit the window.
void BlockDecoder::unpack_zstd(std::span<std::byte> out, const std::string& context) {
  if (zstd_->decode(stream(), out)) return;
  const Buffer frame_pixels(format_.max_decoded_bytes());
  const std::optional<std::int64_t> bytes = zstd_->decode_first_frame(stream(), frame_pixels.bytes());
  if (!bytes) fail(context, "its zstd frame is broken");
  if (*bytes > frame_pixels.size()) fail(context, "its zstd frame holds far more than its pixels");
  if (*bytes < std::ssize(out)) fail(context, "its zstd frame holds fewer pixels");
  std::memcpy(out.data(), frame_pixels.data(), out.size());
}

void BlockDecoder::fail(const std::string& context, const char* problem) const {
  throw IoError(fmt::format("{}: {}: {}", handle_.name(), context, problem));
}

// libjpeg keeps tables from one image to the next: a block without its own tables would be decoded with those
// of whichever block this decoder decoded before.
void BlockDecoder::discard_block_tables() {
  if (has_block_tables_) handle_ = open_handle(format_, *directory_, handle_.name());
  has_block_tables_ = may_define_jpeg_tables(stream());
}

// If a stream is smaller than its block, libtiff fills a part of the block and only warns. It accepts a
// larger one as the last strip, since each block is the only strip of its handle.
void BlockDecoder::check_jpeg_extent(std::span<const std::byte> out, const std::string& context,
                                     bool is_last_strip) const {
  const auto frame = jpeg_frame(stream());
  const std::int64_t rows = static_cast<std::int64_t>(out.size()) / format_.row_bytes();
  const Extent* const found = frame ? &frame->extent : nullptr;
  if (found == nullptr ||
      (found->rows >= rows && found->cols == format_.extent.cols && (found->rows == rows || is_last_strip)))
    return;
  throw IoError(fmt::format("{}: {}: its JPEG holds {} x {} pixels of {} x {}", handle_.name(), context,
                            found->cols, found->rows, format_.extent.cols, rows));
}

std::int64_t BlockDecoder::memory_bytes(const BlockFormat& format) {
  const std::int64_t row_of_planes =
      format.predictor == PREDICTOR_FLOATINGPOINT ? format.row_bytes() : 0;  // our buffer, or libtiff's
  return kHandleBytes + row_of_planes + static_cast<std::int64_t>(2 * format.jpeg_tables.size()) +
         8 * format.channels + round_up(format.max_encoded_bytes(), 64 << 10) + format.bytes() +
         codec_memory_bytes(format);
}

}  // namespace sepconv
