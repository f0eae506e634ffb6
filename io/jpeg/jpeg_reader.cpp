#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/buffered_image.hpp"
#include "io/byte_stream.hpp"
#include "io/file_errors.hpp"
#include "io/jpeg/jpeg.hpp"
#include "io/jpeg/jpeg_errors.hpp"
#include "io/jpeg/jpeg_segments.hpp"

namespace sepconv {
namespace {

/// Data source of libjpeg.
struct Source {
  jpeg_source_mgr manager;  // must be the first member: libjpeg knows only this one
  InputBytes* bytes;
  CodecGuard* guard;

  static Source& of(j_decompress_ptr info) { return *reinterpret_cast<Source*>(info->src); }

  static void do_nothing(j_decompress_ptr) {}
  static boolean fill(j_decompress_ptr info) {
    Source& source = of(info);
    std::span<const std::byte> next;
    source.guard->keep([&] { next = source.bytes->next(); });
    if (next.empty()) source.guard->fail("the file ends before the image does");
    source.manager.next_input_byte = reinterpret_cast<const JOCTET*>(next.data());
    source.manager.bytes_in_buffer = next.size();
    return TRUE;
  }
  static void skip(j_decompress_ptr info, long count) {
    if (count <= 0) return;
    Source& source = of(info);
    const auto buffered = std::min(static_cast<std::size_t>(count), source.manager.bytes_in_buffer);
    source.manager.next_input_byte += buffered;
    source.manager.bytes_in_buffer -= buffered;
    source.bytes->skip(count - static_cast<long>(buffered));
  }
};

/// a * b / 255, rounded.
int scaled_product(int a, int b) { return (a * b + 127) / 255; }

/// Converts as Pillow does. Adobe stores the remaining light, other writers the amount of ink.
void cmyk_to_rgb(const JSAMPLE* cmyk, JSAMPLE* rgb, std::int64_t cols, bool adobe) {
  for (std::int64_t col = 0; col < cols; ++col, cmyk += 4, rgb += 3) {
    const auto light = [&](int channel) { return adobe ? int{cmyk[channel]} : 255 - cmyk[channel]; };
    for (int channel = 0; channel < 3; ++channel)
      rgb[channel] = static_cast<JSAMPLE>(scaled_product(light(channel), light(3)));
  }
}

/// A libjpeg decoder that reads through InputBytes and prints nothing.
class JpegDecoder {
 public:
  explicit JpegDecoder(const InputFile& file) : file_(file), bytes_(file) {
    info().err = &errors_;
    info().client_data = &guard_;
    check(guard_.run([this] { create(); }));
  }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;
  ~JpegDecoder() = default;

  const jpeg_decompress_struct& read_header() {
    check(guard_.run([this] { jpeg_read_header(&info(), TRUE); }));
    const int components = info().num_components;
    if (components != 1 && components != 3 && components != 4) {
      throw_read_error(
          file_.path(),
          fmt::format("JPEG of {} components is not read, only 1, 3 or 4; convert it to TIFF", components));
    }
    info().out_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
    return info();
  }

  bool has_extra_bytes() const noexcept { return guard_.has_extra_bytes(); }

  /// Chroma subsampling; null for grey, and for CMYK, which becomes RGB.
  std::optional<Chroma> chroma() {
    if (info().num_components != 3) return std::nullopt;
    const jpeg_component_info* const components = info().comp_info;
    const auto is_power = [](int factor) { return factor == 1 || factor == 2 || factor == 4; };
    const int cols = components[0].h_samp_factor, rows = components[0].v_samp_factor;
    const bool is_supported =
        is_power(cols) && is_power(rows) &&
        std::all_of(components + 1, components + 3, [](const jpeg_component_info& component) {
          return component.h_samp_factor == 1 && component.v_samp_factor == 1;
        });
    return is_supported ? Chroma{static_cast<std::uint8_t>(cols), static_cast<std::uint8_t>(rows)}
                        : Chroma{1, 1};
  }

  ImageSpec spec() {
    return {{info().image_height, info().image_width}, info().num_components == 1 ? 1 : 3, PixelType::u8};
  }

  /// Upper bound of libjpeg's memory besides the image.
  std::int64_t buffered_bytes() {
    const std::int64_t components = info().num_components;
    std::int64_t bytes = libjpeg_bytes(info().image_width, components);
    // Several scans need all coefficients in memory: two bytes each, in whole blocks of up to 32 x 32 pixels.
    if (jpeg_has_multiple_scans(&info()) != 0)
      bytes += 2 * components * round_up(info().image_height, 32) * round_up(info().image_width, 32);
    return bytes;
  }

  void read_pixels(const PixelView& out) {
    if (spec() != ImageSpec{out.extent, out.channels, out.type})
      throw_read_error(file_.path(), "it has changed since it was opened; read it again");
    guard_.forget_extra_bytes();  // these were padding between the segments before the pixels
    std::vector<JSAMPLE> cmyk(
        info().out_color_space == JCS_CMYK ? 4 * static_cast<std::size_t>(out.extent.cols) : 0);
    check(guard_.run([&] {
      jpeg_start_decompress(&info());
      for (std::int64_t row = 0; row < out.extent.rows; ++row) {
        auto* const pixels = out.row<JSAMPLE>(row);
        JSAMPROW line = cmyk.empty() ? pixels : cmyk.data();
        jpeg_read_scanlines(&info(), &line, 1);
        if (!cmyk.empty()) cmyk_to_rgb(line, pixels, out.extent.cols, info().saw_Adobe_marker != 0);
      }
      jpeg_finish_decompress(&info());
    }));
  }

 private:
  jpeg_decompress_struct& info() { return handle_.info; }

  void create() {
    jpeg_create_decompress(&info());
    source_.manager.init_source = Source::do_nothing;
    source_.manager.fill_input_buffer = Source::fill;
    source_.manager.skip_input_data = Source::skip;
    source_.manager.resync_to_restart = jpeg_resync_to_restart;
    source_.manager.term_source = Source::do_nothing;
    info().src = &source_.manager;
  }

  void check(bool success) const {
    if (success) return;
    guard_.rethrow(fmt::format("cannot read {}: ", file_.path().native()),
                   "; the file is damaged or of a rare kind, copy it again or convert it to TIFF");
  }

  const InputFile& file_;
  CodecGuard guard_;
  InputBytes bytes_;
  Source source_{{}, &bytes_, &guard_};
  jpeg_error_mgr errors_ = jpeg_errors();
  struct Handle {
    ~Handle() { jpeg_destroy_decompress(&info); }
    jpeg_decompress_struct info{};
  } handle_;
};

/// JFIF's density (T.871, 10.1). A ratio of 1 to 1 without a unit has no information.
std::optional<Resolution> resolution_of(const jpeg_decompress_struct& info) {
  if (info.saw_JFIF_marker == 0 || info.X_density == 0 || info.Y_density == 0) return std::nullopt;
  const double x = info.X_density;
  const double y = info.Y_density;
  if (info.density_unit == 1) return Resolution{x, y, Resolution::Unit::inch};
  if (info.density_unit == 2) return Resolution{x, y, Resolution::Unit::centimetre};
  if (x == y) return std::nullopt;
  return Resolution{x, y, Resolution::Unit::none};
}

void decode_jpeg(const InputFile& file, const PixelView& out, std::vector<std::string>& found) {
  JpegDecoder decoder(file);
  decoder.read_header();
  decoder.read_pixels(out);
  if (decoder.has_extra_bytes()) found.emplace_back(kExtraBytes);
}

}  // namespace

bool is_jpeg(std::span<const std::byte> head) noexcept { return begins_with(head, "\xFF\xD8\xFF"); }

std::unique_ptr<Reader> open_jpeg(InputFile file, const OpenOptions&) {
  BufferedSource source;
  source.is_jpeg = true;
  JpegExtras extras = read_jpeg_extras(file);
  source.warnings = std::move(extras.warnings);
  source.metadata.orientation = extras.orientation;
  source.metadata.exif = std::move(extras.exif);
  source.metadata.xmp = std::move(extras.xmp);
  source.metadata.iptc = std::move(extras.iptc);
  {
    JpegDecoder decoder(file);
    const jpeg_decompress_struct& info = decoder.read_header();
    source.spec = decoder.spec();
    source.chroma = decoder.chroma();
    source.description = info.progressive_mode != 0 ? "JPEG, progressive" : "JPEG";
    source.decoder_bytes = decoder.buffered_bytes();
    source.metadata.resolution = resolution_of(info);
    if (info.num_components != 4) {
      source.metadata.icc_profile = std::move(extras.icc_profile);
    } else {
      source.warnings.emplace_back("CMYK becomes RGB, without a profile of colours");
      if (!extras.icc_profile.empty())
        source.warnings.emplace_back("the ICC profile is left out: it is for CMYK, which becomes RGB");
    }
  }
  source.found = std::make_shared<std::vector<std::string>>();
  return make_buffered_reader(std::move(file), std::move(source),
                              [found = source.found](const InputFile& bytes, const PixelView& out) {
                                decode_jpeg(bytes, out, *found);
                              });
}

}  // namespace sepconv
