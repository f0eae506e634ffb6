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
std::int64_t decoding_bytes(const BlockFormat& format) {
  constexpr std::int64_t kKiB = 1 << 10;
  constexpr std::int64_t kMiB = 1 << 20;
  switch (format.compression) {
    case COMPRESSION_LZW:
      return 128 * kKiB;
    case COMPRESSION_ZSTD:
      // A frame of more than its block; or libtiff's window, of which only what a block fills is touched.
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
  // What is left to libtiff are streams of more than the block. By zlib it fills the block or fails; by
  // libdeflate it leaves what does not fit as it was, without a word.
  if (is_deflate(format.compression)) {
    handle.check(TIFFSetField(handle.get(), TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB) != 0,
                 "cannot choose a decoder");
  }
  return handle;
}

}  // namespace

BlockDecoder::BlockDecoder(const BlockFormat& format, std::string name)
    : format_(format),
      directory_(std::make_unique<ConstantBytes>(one_block_tiff(format))),
      handle_(open_handle(format, *directory_, std::move(name))) {
  if (can_decode_ahead(format)) inflater_ = std::make_unique<deflate::Inflater>();
  if (format.compression == COMPRESSION_ZSTD && format.fill_order == FILLORDER_MSB2LSB)
    zstd_ = std::make_unique<ZstdDecoder>();
}

bool BlockDecoder::can_decode_ahead(const BlockFormat& format) noexcept {
  return is_deflate(format.compression) && format.fill_order == FILLORDER_MSB2LSB;
}

BlockDecoder::~BlockDecoder() = default;

std::span<std::byte> BlockDecoder::encoded(std::int64_t bytes) {
  if (encoded_.size() < bytes) {
    encoded_ = {};  // before the larger one is made: the two together are not in the plan
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

void BlockDecoder::decode(std::span<std::byte> out, const std::string& what, bool is_last_strip) {
  if (decode_directly(out, what)) return;
  if (format_.compression == COMPRESSION_JPEG) {
    check_jpeg_extent(out, what, is_last_strip);
    forget_other_tables();
  }
  handle_.clear_messages();
  const int decoded = TIFFReadFromUserBuffer(handle_.get(), 0, encoded_.data(), encoded_bytes_, out.data(),
                                             static_cast<tmsize_t>(out.size()));
  handle_.check(decoded != 0, what);
  if (!handle_.jpeg_complaint().empty())
    throw IoError(handle_.name() + ": " + what + ": " + handle_.jpeg_complaint());
  // What libjpeg refuses behind the last row libtiff reports, and then says that all went well.
  handle_.check(handle_.message().empty(), what);
}

bool BlockDecoder::decode_directly(std::span<std::byte> out, const std::string& what) {
  if (zstd_) {
    unpack_zstd(out, what);
  } else if (!std::exchange(is_inflated_, false) && !(inflater_ && inflate(out, what))) {
    return false;
  }
  undo_predictor(out, format_);
  return true;
}

void BlockDecoder::decode_ahead(BlockDecoder& one, std::span<std::byte> out, BlockDecoder& other,
                                std::span<std::byte> other_out) noexcept {
  if (!one.inflater_ || !other.inflater_) return;
  const auto done = deflate::Inflater::decode_two({*one.inflater_, one.stream(), out},
                                                  {*other.inflater_, other.stream(), other_out});
  one.is_inflated_ = done[0];
  other.is_inflated_ = done[1];
}

bool BlockDecoder::inflate(std::span<std::byte> out, const std::string& what) {
  using deflate::InflateStatus;
  switch (inflater_->decode(stream(), out, static_cast<std::size_t>(format_.max_decoded_bytes()))) {
    case InflateStatus::whole:
      return true;
    case InflateStatus::more:
      return false;
    case InflateStatus::far_more:
      fail(what, "its deflate stream holds far more than its pixels");
    case InflateStatus::fewer:
      fail(what, "its deflate stream holds fewer pixels");
    default:
      fail(what, "its deflate stream is broken");
  }
}

// A frame that was damaged may go on for more than its block. Libtiff stops where the block is full, and
// would neither look at the checksum nor count the window.
void BlockDecoder::unpack_zstd(std::span<std::byte> out, const std::string& what) {
  if (zstd_->decode(stream(), out)) return;
  const Buffer held(format_.max_decoded_bytes());
  const std::optional<std::int64_t> bytes = zstd_->decode_first(stream(), held.bytes());
  if (!bytes) fail(what, "its zstd frame is broken");
  if (*bytes > held.size()) fail(what, "its zstd frame holds far more than its pixels");
  if (*bytes < std::ssize(out)) fail(what, "its zstd frame holds fewer pixels");
  std::memcpy(out.data(), held.data(), out.size());
}

void BlockDecoder::fail(const std::string& what, const char* found) const {
  throw IoError(fmt::format("{}: {}: {}", handle_.name(), what, found));
}

// libjpeg keeps tables from one image to the next: a block that lacks some would be decoded with another
// block's, whichever this decoder happened to have before.
void BlockDecoder::forget_other_tables() {
  if (has_other_tables_) handle_ = open_handle(format_, *directory_, handle_.name());
  has_other_tables_ = may_bring_jpeg_tables(stream());
}

// For a stream that is smaller than its block libtiff fills a part of the block and only warns; one that is
// larger it takes for the last strip, as each is the only one of its handle.
void BlockDecoder::check_jpeg_extent(std::span<const std::byte> out, const std::string& what,
                                     bool is_last_strip) const {
  const auto frame = jpeg_frame(stream());
  const std::int64_t rows = static_cast<std::int64_t>(out.size()) / format_.row_bytes();
  const Extent* const found = frame ? &frame->extent : nullptr;
  if (found == nullptr ||
      (found->rows >= rows && found->cols == format_.extent.cols && (found->rows == rows || is_last_strip)))
    return;
  throw IoError(fmt::format("{}: {}: its JPEG holds {} x {} pixels of {} x {}", handle_.name(), what,
                            found->cols, found->rows, format_.extent.cols, rows));
}

std::int64_t BlockDecoder::memory_bytes(const BlockFormat& format) {
  const std::int64_t row_of_planes =
      format.predictor == PREDICTOR_FLOATINGPOINT ? format.row_bytes() : 0;  // ours, or libtiff's
  return kHandleBytes + row_of_planes + static_cast<std::int64_t>(2 * format.jpeg_tables.size()) +
         8 * format.channels + round_up(format.max_encoded_bytes(), 64 << 10) + format.bytes() +
         decoding_bytes(format);
}

}  // namespace sepconv
