#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>
#include <utility>

#include "core/error.hpp"
#include "io/buffered_image.hpp"
#include "io/byte_stream.hpp"
#include "io/codec_guard.hpp"
#include "io/file_errors.hpp"
#include "io/png/png.hpp"
#include "io/png/png_chunks.hpp"

namespace sepconv {
namespace {

/// Maximum expansion of deflate: https://zlib.net/zlib_tech.html
constexpr double kMaxInflated = 1032;

/// Compressed bytes after the last row that libpng may read: they can expand a thousandfold.
constexpr std::int64_t kMaxTrailingBytes = 256 << 10;
constexpr png_uint_32 kPixelChunk = 0x49444154;  // IDAT

using ReadBytes = std::function<void(std::span<std::byte>)>;

/// A libpng decoder that reads through a callback and prints nothing.
class PngDecoder {
 public:
  PngDecoder(std::string name, ReadBytes read) : name_(std::move(name)), read_(std::move(read)) {
    check(guard_.run([this] { create(); }));
  }
  PngDecoder(const PngDecoder&) = delete;
  PngDecoder& operator=(const PngDecoder&) = delete;
  ~PngDecoder() = default;

  /// Reads the header and the profile from a file that may end there. Allocates no rows, since their length
  /// is not verified yet.
  void read_head() {
    check(guard_.run([this] {
      png_set_chunk_malloc_max(png_, kMaxProfileBytes);
      png_read_info(png_, info_);
      determine_output();
    }));
  }

  /// Decodes a whole file. `out` must have the spec() that read_head() determines.
  void read_pixels(const PixelView& out) {
    check(guard_.run([this, &out] {
      // Chunks other than pixels are skipped, after a check of their checksums.
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_set_chunk_malloc_max(png_, 0);
      png_read_info(png_, info_);
      determine_output();
      if (spec_ != ImageSpec{out.extent, out.channels, out.type})
        png_error(png_, "it has changed since it was opened");
      const int passes = expand();
      if (static_cast<std::int64_t>(png_get_rowbytes(png_, info_)) != out.row_bytes())
        png_error(png_, "libpng returns rows of another size");
      // From here on libpng's warnings concern pixels and become errors.
      png_set_benign_errors(png_, 0);
      for (int pass = 0; pass < passes; ++pass) {
        for (std::int64_t row = 0; row < out.extent.rows; ++row) {
          // With the last row libpng also reads the data after it.
          if (pass + 1 == passes && row + 1 == out.extent.rows)
            read_budget_ = kMaxTrailingBytes + out.row_bytes();
          png_read_row(png_, reinterpret_cast<png_bytep>(out.row_data(row)), nullptr);
        }
      }
      png_read_end(png_, nullptr);
    }));
  }

  const ImageSpec& spec() const { return spec_; }
  std::string_view storage() const { return storage_; }
  double inflated_bytes() const { return inflated_bytes_; }
  bool loses_transparency() const { return transparency_ && colour_ == PNG_COLOR_TYPE_GRAY; }
  bool grey_with_alpha() const { return colour_ == PNG_COLOR_TYPE_GRAY_ALPHA; }

  std::span<const std::byte> profile() const {
    png_charp name = nullptr;
    int method = 0;
    png_bytep data = nullptr;
    png_uint_32 bytes = 0;
    if (png_get_iCCP(png_, info_, &name, &method, &data, &bytes) == 0) return {};
    return {reinterpret_cast<const std::byte*>(data), bytes};
  }
  const char* warning() const { return warning_; }

 private:
  static PngDecoder& self(png_structp png) { return *static_cast<PngDecoder*>(png_get_error_ptr(png)); }

  static void error(png_structp png, png_const_charp message) { self(png).guard_.fail(message); }
  static void warn(png_structp png, png_const_charp message) {
    char* const first = self(png).warning_;
    if (*first == '\0') std::snprintf(first, sizeof warning_, "%s", message);
  }
  static void read(png_structp png, png_bytep data, std::size_t bytes) {
    PngDecoder& decoder = self(png);
    if (png_get_io_chunk_type(png) == kPixelChunk &&
        (decoder.read_budget_ -= static_cast<std::int64_t>(bytes)) < 0)
      decoder.guard_.fail("its compressed data exceed its pixels by far");
    decoder.guard_.keep([&] { decoder.read_({reinterpret_cast<std::byte*>(data), bytes}); });
  }

  void check(bool success) const {
    if (success) return;
    guard_.rethrow(fmt::format("cannot read {}: ", name_), "; the file is damaged, copy it again");
  }

  void create() {
    png_ = png_create_read_struct(PNG_LIBPNG_VER_STRING, this, error, warn);
    if (png_ == nullptr) guard_.fail("libpng cannot be started");
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) guard_.fail("Out of memory");
    png_set_read_fn(png_, this, read);
    png_set_user_limits(png_, kPngMaxLength, kPngMaxLength);
    png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  }

  /// A grey palette becomes one channel, as in a BMP. With a profile, which is one for colours, it stays
  /// three.
  bool has_grey_palette() const {
    png_colorp colours = nullptr;
    int count = 0;
    if (colour_ != PNG_COLOR_TYPE_PALETTE || transparency_ ||
        png_get_valid(png_, info_, PNG_INFO_iCCP) != 0 || png_get_PLTE(png_, info_, &colours, &count) == 0)
      return false;
    return std::ranges::all_of(
        std::span(colours, static_cast<std::size_t>(count)),
        [](const png_color& colour) { return colour.red == colour.green && colour.red == colour.blue; });
  }

  /// Determines the result of expand().
  void determine_output() {
    const int depth = png_get_bit_depth(png_, info_);
    colour_ = png_get_color_type(png_, info_);
    transparency_ = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    is_grey_palette_ = has_grey_palette();
    const bool has_alpha = (colour_ & PNG_COLOR_MASK_ALPHA) != 0 || (transparency_ && !loses_transparency());
    spec_ = {{png_get_image_height(png_, info_), png_get_image_width(png_, info_)},
             colour_ == PNG_COLOR_TYPE_GRAY || is_grey_palette_ ? 1
             : has_alpha                                        ? 4
                                                                : 3,
             depth == 16 ? PixelType::u16 : PixelType::u8};
    inflated_bytes_ =
        static_cast<double>(spec_.extent.rows) * static_cast<double>(png_get_rowbytes(png_, info_));
    storage_ = colour_ == PNG_COLOR_TYPE_PALETTE                           ? "palette"
               : grey_with_alpha()                                         ? "grey with alpha"
               : depth < 8                                                 ? "less than 8 bits"
               : png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE ? "interlaced"
                                                                           : "";
  }

  /// Configures conversion to u8 or u16 in native byte order with 1, 3 or 4 channels. Returns the number of
  /// passes over the image.
  int expand() {
    if (colour_ == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
    if (is_grey_palette_) png_set_rgb_to_gray_fixed(png_, PNG_ERROR_ACTION_NONE, -1, -1);
    if (colour_ == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png_, info_) < 8)
      png_set_expand_gray_1_2_4_to_8(png_);
    if (grey_with_alpha()) png_set_gray_to_rgb(png_);
    if (transparency_ && !loses_transparency()) png_set_tRNS_to_alpha(png_);
    if (spec_.type == PixelType::u16 && std::endian::native == std::endian::little) png_set_swap(png_);
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    return passes;
  }

  CodecGuard guard_;
  std::string name_;
  ReadBytes read_;
  struct Handle {
    ~Handle() { png_destroy_read_struct(&png, &info, nullptr); }
    png_structp png = nullptr;
    png_infop info = nullptr;
  } handle_;
  png_structp& png_ = handle_.png;
  png_infop& info_ = handle_.info;
  ImageSpec spec_;
  int colour_ = PNG_COLOR_TYPE_GRAY;
  bool is_grey_palette_ = false;
  const char* storage_ = "";
  double inflated_bytes_ = 0;
  bool transparency_ = false;  // has tRNS
  // compressed pixel bytes that libpng may still read
  std::int64_t read_budget_ = std::numeric_limits<std::int64_t>::max();
  char warning_[160] = "";
};

void copy_profile(const PngDecoder& decoder, bool expected, BufferedSource& source) {
  const auto profile = decoder.profile();
  if (profile.empty() && expected) {
    source.warnings.push_back(fmt::format("the ICC profile is left out: {}", decoder.warning()));
  } else if (!profile.empty() && decoder.grey_with_alpha()) {
    source.warnings.emplace_back("the ICC profile is left out: it is for grey, which becomes RGB");
  } else {
    source.metadata.icc_profile.assign(profile.begin(), profile.end());
    if (*decoder.warning() != '\0')
      source.warnings.push_back(fmt::format("libpng reports: {}", decoder.warning()));
  }
}

void decode_png(const InputFile& file, const PixelView& out) {
  InputBytes bytes(file);
  PngDecoder decoder(file.path().native(), [&](std::span<std::byte> to) { bytes.read(to); });
  decoder.read_pixels(out);
}

}  // namespace

bool is_png(std::span<const std::byte> head) noexcept { return begins_with(head, "\x89PNG\r\n\x1A\n"); }

FileInfo describe_png(InputFile file, const OpenOptions&) {
  const std::int64_t images = read_png_chunks(file).images, file_bytes = file.size();
  FileInfo info = describe_image(*open_png(std::move(file), {.page = 0}), file_bytes);
  info.images = images;
  return info;
}

std::unique_ptr<Reader> open_png(InputFile file, const OpenOptions& options) {
  PngChunks chunks = read_png_chunks(file);
  if (chunks.images > 1 && !options.page) {
    throw IoError(
        fmt::format("{}: holds {} images, an animation, of which the one that is shown without animation can "
                    "be read; say so with OpenOptions::page 0",
                    file.path().native(), chunks.images));
  }
  std::span<const std::byte> rest = chunks.head;
  PngDecoder decoder(file.path().native(), [&](std::span<std::byte> to) {
    if (to.size() > rest.size())
      throw_read_error(file.path(), "its header ends too early; the file is damaged, copy it again");
    std::copy_n(rest.begin(), to.size(), to.begin());
    rest = rest.subspan(to.size());
  });
  decoder.read_head();
  if (decoder.inflated_bytes() > kMaxInflated * static_cast<double>(chunks.pixel_bytes) + kMaxInflated) {
    throw_read_error(
        file.path(),
        fmt::format("{} bytes of pixels cannot be compressed to {}; the file is damaged, copy it again",
                    decoder.inflated_bytes(), chunks.pixel_bytes));
  }
  BufferedSource source;
  source.spec = decoder.spec();
  source.metadata = std::move(chunks.metadata);
  source.warnings = std::move(chunks.warnings);
  source.description = fmt::format("PNG{}{}", decoder.storage().empty() ? "" : ", ", decoder.storage());
  source.decoder_bytes = kPngCodecBytes + 8 * source.spec.row_bytes();
  if (decoder.loses_transparency())
    source.warnings.emplace_back("which grey is transparent (tRNS) is left out");
  copy_profile(decoder, chunks.has_profile, source);
  return make_buffered_reader(std::move(file), std::move(source), decode_png);
}

}  // namespace sepconv
