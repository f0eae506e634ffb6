#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/buffered_image.hpp"
#include "io/byte_stream.hpp"
#include "io/codec_guard.hpp"
#include "io/deflate/deflater.hpp"
#include "io/exif.hpp"
#include "io/photograph.hpp"
#include "io/pixel_density.hpp"
#include "io/png/png.hpp"
#include "io/png/png_chunks.hpp"
#include "io/png/png_coder.hpp"
#include "io/png/png_pixels.hpp"

namespace sepconv {
namespace {

using enum MetadataKind;
constexpr unsigned kPngMetadata = static_cast<unsigned>(resolution) | static_cast<unsigned>(orientation) |
                                  static_cast<unsigned>(icc_profile) | static_cast<unsigned>(texts) |
                                  static_cast<unsigned>(colours) | static_cast<unsigned>(exif) |
                                  static_cast<unsigned>(xmp);
constexpr BufferedFormat kPng{"PNG", true, "134", kPngMaxLength, kPngMetadata};

/// A libpng encoder for everything except the pixels. It writes through OutputBytes and prints nothing.
class PngEncoder {
 public:
  PngEncoder(const ImageSpec& spec, const Metadata& metadata) : spec_(spec) {
    if (metadata.colours && !is_plain(*metadata.colours) && spec == ImageSpec{spec.extent, 1, PixelType::u8})
      palette_ = palette_of(*metadata.colours);
    if (!guard_.run([this] { create(); })) fail("libpng");
  }
  PngEncoder(const PngEncoder&) = delete;
  PngEncoder& operator=(const PngEncoder&) = delete;
  ~PngEncoder() = default;

  /// Returns why libpng rejects this profile; empty if it does not.
  std::string refusal(const std::vector<std::byte>& profile) {
    if (!guard_.run([this, &profile] { set_profile(profile); })) return guard_.message();
    return png_get_valid(png_, info_, PNG_INFO_iCCP) != 0 ? "" : warning_;
  }

  void encode(OutputFile& file, const Metadata& metadata, int level, const PixelView& image) {
    OutputBytes bytes(file);
    bytes_ = &bytes;
    std::vector<std::byte> exif;
    if (metadata.orientation != 1 || !metadata.exif.empty())
      exif = encode_exif(metadata.exif, metadata.orientation, spec_.extent);
    const std::vector<std::byte> packet = updated_xmp(metadata, spec_.extent);
    const std::string xmp(reinterpret_cast<const char*>(packet.data()), packet.size());
    auto chunks = text_chunks(metadata);
    if (!xmp.empty()) chunks.push_back(international_text(kPngXmpKeyword, xmp));
    const bool success = guard_.run([&] {
      png_set_write_fn(png_, this, write, flush);
      set_metadata(metadata, exif);
      if (!chunks.empty()) png_set_text(png_, info_, chunks.data(), static_cast<int>(chunks.size()));
      png_write_info(png_, info_);
    });
    if (!success) fail(file.target().native());
    write_png_pixels(image, level, bytes);
    bytes.flush();
  }

 private:
  static PngEncoder& self(png_structp png) { return *static_cast<PngEncoder*>(png_get_error_ptr(png)); }
  static void error(png_structp png, png_const_charp message) { self(png).guard_.fail(message); }
  static void warn(png_structp png, png_const_charp message) {
    std::snprintf(self(png).warning_, sizeof warning_, "%s", message);
  }
  static void write(png_structp png, png_bytep data, std::size_t bytes) {
    PngEncoder& encoder = self(png);
    encoder.guard_.keep([&] { encoder.bytes_->write({reinterpret_cast<const std::byte*>(data), bytes}); });
  }
  static void flush(png_structp) {}

  [[noreturn]] void fail(const std::string& name) const {
    guard_.rethrow(fmt::format("cannot write {}: ", name), "; choose .tif");
  }

  void create() {
    png_ = png_create_write_struct(PNG_LIBPNG_VER_STRING, this, error, warn);
    if (png_ == nullptr) guard_.fail("libpng cannot be started");
    info_ = png_create_info_struct(png_);
    if (info_ == nullptr) guard_.fail("Out of memory");
    png_set_user_limits(png_, kPngMaxLength, kPngMaxLength);
    const int colours = !palette_.empty()     ? PNG_COLOR_TYPE_PALETTE
                        : spec_.channels == 1 ? PNG_COLOR_TYPE_GRAY
                        : spec_.channels == 3 ? PNG_COLOR_TYPE_RGB
                                              : PNG_COLOR_TYPE_RGB_ALPHA;
    png_set_IHDR(png_, info_, static_cast<png_uint_32>(spec_.extent.cols),
                 static_cast<png_uint_32>(spec_.extent.rows), static_cast<int>(8 * size_of(spec_.type)),
                 colours, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (!palette_.empty()) png_set_PLTE(png_, info_, palette_.data(), static_cast<int>(palette_.size()));
  }

  /// Returns a palette of all 256 values: a value beyond a shorter palette would be damage.
  static std::vector<png_color> palette_of(const ColourTable& colours) {
    const ColourTable all = resize_table(colours, 256);
    std::vector<png_color> palette;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto [red, green, blue] = all.shown(i);
      palette.push_back({red, green, blue});
    }
    return palette;
  }

  void set_profile(const std::vector<std::byte>& profile) {
    png_set_iCCP(png_, info_, "ICC profile", PNG_COMPRESSION_TYPE_BASE,
                 reinterpret_cast<png_const_bytep>(profile.data()), static_cast<png_uint_32>(profile.size()));
  }

  void set_metadata(const Metadata& metadata, std::vector<std::byte>& exif) {
    if (metadata.resolution) {
      const int unit =
          metadata.resolution->unit == Resolution::Unit::none ? PNG_RESOLUTION_UNKNOWN : PNG_RESOLUTION_METER;
      if (const auto size = per_metre(*metadata.resolution))
        png_set_pHYs(png_, info_, size->x, size->y, unit);
    }
    if (!metadata.icc_profile.empty())
      set_profile(metadata.icc_profile);
    else if (metadata.srgb_intent)
      png_set_sRGB(png_, info_, *metadata.srgb_intent);
    if (!exif.empty())
      png_set_eXIf_1(png_, info_, static_cast<png_uint_32>(exif.size()),
                     reinterpret_cast<png_bytep>(exif.data()));
  }

  /// The result points into `text`.
  static png_text international_text(const char* keyword, const std::string& text) {
    png_text chunk{};
    chunk.compression = PNG_ITXT_COMPRESSION_NONE;
    chunk.key = const_cast<char*>(keyword);
    chunk.text = const_cast<char*>(text.c_str());
    chunk.itxt_length = text.size();
    return chunk;
  }

  /// Text that is UTF-8 but not ASCII goes into iTXt. Any other text goes unchanged into tEXt, which is
  /// Latin-1: other bytes in a TIFF's text are mostly Latin-1. The chunks point into `metadata`.
  static std::vector<png_text> text_chunks(const Metadata& metadata) {
    std::vector<png_text> chunks;
    for (const PngText& kind : kPngTexts) {
      const std::string& text = metadata.*kind.text;
      if (text.empty()) continue;
      const bool ascii = std::ranges::all_of(
          text, [](char character) { return static_cast<unsigned char>(character) < 0x80; });
      png_text chunk{};
      chunk.compression = ascii || !is_utf8(text) ? PNG_TEXT_COMPRESSION_NONE : PNG_ITXT_COMPRESSION_NONE;
      chunk.key = const_cast<char*>(kind.keyword);
      chunk.text = const_cast<char*>(text.c_str());
      chunk.text_length = text.size();
      chunks.push_back(chunk);
    }
    return chunks;
  }

  CodecGuard guard_;
  ImageSpec spec_;
  std::vector<png_color> palette_;
  OutputBytes* bytes_ = nullptr;
  char warning_[160] = "";
  struct Handle {
    ~Handle() { png_destroy_write_struct(&png, &info); }
    png_structp png = nullptr;
    png_infop info = nullptr;
  } handle_;
  png_structp& png_ = handle_.png;
  png_infop& info_ = handle_.info;
};

/// Returns the level for PngCoder.
int level_of(const std::filesystem::path& path, const FileLayout& layout) {
  if (layout.compression != Compression::deflate)
    return deflate::kAutomatic;  // the compression of a source in another format
  if (layout.level <= kMaxPngLevel) return layout.level;
  if (layout.level == deflate::kBestLevel) return kMaxPngLevel;
  throw InvalidArgument(fmt::format(
      "cannot write {} with deflate:{}: PNG has deflate:1 to deflate:{}, deflate:fast and deflate:best",
      path.native(), layout.level, kMaxPngLevel));
}

}  // namespace

std::unique_ptr<Writer> create_png(const std::filesystem::path& path, const ImageSpec& requested_spec,
                                   const CreateOptions& requested) {
  BufferedPicture picture = make_buffered_picture(path, requested_spec, kPng, requested);
  const ImageSpec spec = picture.spec;
  const CreateOptions& options = picture.options;
  const int level = level_of(path, options.layout);
  Metadata metadata = options.metadata;
  if (is_stack_description(metadata.description)) metadata.description.clear();
  BufferedSink sink;
  if (level != deflate::kAutomatic)
    sink.kind = fmt::format(" with deflate:{}", level == deflate::kFast ? "fast" : std::to_string(level));
  if (metadata.resolution && !per_metre(*metadata.resolution))
    sink.warnings.emplace_back("the resolution is not kept: PNG holds whole numbers per metre");
  if (!metadata.icc_profile.empty()) {
    if (const std::string refusal = PngEncoder(spec, metadata).refusal(metadata.icc_profile);
        !refusal.empty()) {
      sink.warnings.push_back(fmt::format("the ICC profile is not kept: libpng reports \"{}\"", refusal));
      metadata.icc_profile.clear();
    }
  }
  // Profile and texts are stored by us and by libpng, and compressed.
  sink.encoder_bytes = kPngCodecBytes + png_pixels_bytes(spec.row_bytes()) + 4 * buffered_bytes(metadata);
  return make_buffered_writer(path, kPng, std::move(picture), std::move(sink),
                              [metadata, spec, level](OutputFile& file, const PixelView& image) {
                                PngEncoder(spec, metadata).encode(file, metadata, level, image);
                              });
}

}  // namespace sepconv
