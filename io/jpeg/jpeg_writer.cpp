#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "io/buffered_image.hpp"
#include "io/byte_stream.hpp"
#include "io/jpeg/jpeg.hpp"
#include "io/jpeg/jpeg_errors.hpp"
#include "io/jpeg/jpeg_segments.hpp"
#include "io/photograph.hpp"

namespace sepconv {
namespace {

using enum MetadataKind;
constexpr unsigned kJpegMetadata = static_cast<unsigned>(resolution) | static_cast<unsigned>(orientation) |
                                   static_cast<unsigned>(icc_profile) | static_cast<unsigned>(exif) |
                                   static_cast<unsigned>(xmp) | static_cast<unsigned>(iptc);
constexpr BufferedFormat kJpeg{"JPEG", false, "13", 65500, kJpegMetadata};  // libjpeg's JPEG_MAX_DIMENSION
/// A profile has at most 255 pieces, one per segment: ICC.1, annex B.4.
constexpr std::size_t kMaxJpegProfileBytes = std::size_t{255} * 65519;

struct Density {
  int unit = 0;
  double x = 1;
  double y = 1;
  bool exact = true;
};

/// Converts to whole numbers of 16 bits; null if they do not fit.
std::optional<Density> density_of(Resolution resolution) {
  const auto is_whole = [](double value) { return std::abs(value - std::round(value)) < 1e-4 * value; };
  if (resolution.unit == Resolution::Unit::centimetre && !(is_whole(resolution.x) && is_whole(resolution.y)))
    resolution = {2.54 * resolution.x, 2.54 * resolution.y, Resolution::Unit::inch};
  const int unit = static_cast<int>(resolution.unit) - 1;  // TIFF counts from 1, JFIF from 0
  const Density density{unit, std::round(resolution.x), std::round(resolution.y),
                        is_whole(resolution.x) && is_whole(resolution.y)};
  const auto fits = [](double value) { return value >= 1 && value <= 65535; };
  if (!fits(density.x) || !fits(density.y)) return std::nullopt;
  return density;
}

struct Destination {
  jpeg_destination_mgr manager;  // must be the first member: libjpeg knows only this one
  OutputBytes* bytes;
  CodecGuard* guard;
  std::array<JOCTET, 16384> buffer;

  static Destination& of(j_compress_ptr info) { return *reinterpret_cast<Destination*>(info->dest); }

  static void begin(j_compress_ptr info) {
    Destination& destination = of(info);
    destination.manager.next_output_byte = destination.buffer.data();
    destination.manager.free_in_buffer = destination.buffer.size();
  }
  /// libjpeg calls this when the buffer is full, whatever free_in_buffer says.
  static boolean empty(j_compress_ptr info) {
    of(info).write(of(info).buffer.size());
    begin(info);
    return TRUE;
  }
  static void end(j_compress_ptr info) {
    of(info).write(of(info).buffer.size() - of(info).manager.free_in_buffer);
  }

  void write(std::size_t count) {
    guard->keep([&] { bytes->write(std::as_bytes(std::span(buffer).first(count))); });
  }
};

/// The options that are written to the file.
struct JpegSettings {
  int quality = 90;
  Chroma chroma{};
  std::optional<Density> density;
  std::vector<std::byte> icc_profile;
  std::vector<std::vector<std::byte>> app1{}, app13{};  ///< segments
};

/// Adds a segment of a name and data unless the data are empty. Warns and adds nothing if they exceed the
/// capacity of a segment.
void add_segment(std::string_view name, std::span<const std::byte> data, std::string_view kind,
                 std::vector<std::vector<std::byte>>& segments, std::vector<std::string>& warnings) {
  constexpr std::size_t kMaxSegmentBytes = 65533;
  if (data.empty()) return;
  if (name.size() + data.size() > kMaxSegmentBytes) {
    warnings.push_back(fmt::format("{} of {} bytes is not kept: a JPEG segment stores at most {}", kind,
                                   data.size(), kMaxSegmentBytes - name.size()));
    return;
  }
  std::vector<std::byte>& segment = segments.emplace_back();
  const auto bytes = std::as_bytes(std::span(name));
  segment.assign(bytes.begin(), bytes.end());
  segment.insert(segment.end(), data.begin(), data.end());
}

class JpegEncoder {
 public:
  explicit JpegEncoder(OutputFile& file) : file_(file), bytes_(file) {
    info().err = &errors_;
    info().client_data = &guard_;
  }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;
  ~JpegEncoder() = default;

  void encode(const JpegSettings& settings, const PixelView& image) {
    const bool success = guard_.run([&] {
      start_compression(settings, image);
      write_segments(JPEG_APP0 + 1, settings.app1);
      write_segments(JPEG_APP0 + 13, settings.app13);
      if (!settings.icc_profile.empty()) {
        jpeg_write_icc_profile(&info(), reinterpret_cast<const JOCTET*>(settings.icc_profile.data()),
                               static_cast<unsigned>(settings.icc_profile.size()));
      }
      for (std::int64_t row = 0; row < image.extent.rows; ++row) {
        JSAMPROW line = image.row<JSAMPLE>(row);
        jpeg_write_scanlines(&info(), &line, 1);
      }
      jpeg_finish_compress(&info());
    });
    if (!success) guard_.rethrow(fmt::format("cannot write {}: ", file_.target().native()), "; choose .tif");
    bytes_.flush();
  }

 private:
  jpeg_compress_struct& info() { return handle_.info; }

  void write_segments(int marker, const std::vector<std::vector<std::byte>>& segments) {
    for (const std::vector<std::byte>& segment : segments)
      jpeg_write_marker(&info(), marker, reinterpret_cast<const JOCTET*>(segment.data()),
                        static_cast<unsigned>(segment.size()));
  }

  void start_compression(const JpegSettings& settings, const PixelView& image) {
    jpeg_create_compress(&info());
    destination_.manager.init_destination = Destination::begin;
    destination_.manager.empty_output_buffer = Destination::empty;
    destination_.manager.term_destination = Destination::end;
    info().dest = &destination_.manager;
    info().image_width = static_cast<JDIMENSION>(image.extent.cols);
    info().image_height = static_cast<JDIMENSION>(image.extent.rows);
    info().input_components = static_cast<int>(image.channels);
    info().in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info());
    jpeg_set_quality(&info(), settings.quality, TRUE);
    if (image.channels == 3) {
      info().comp_info[0].h_samp_factor = settings.chroma.cols;
      info().comp_info[0].v_samp_factor = settings.chroma.rows;
    }
    if (settings.density) {
      info().density_unit = static_cast<UINT8>(settings.density->unit);
      info().X_density = static_cast<UINT16>(settings.density->x);
      info().Y_density = static_cast<UINT16>(settings.density->y);
    }
    jpeg_start_compress(&info(), TRUE);
  }

  OutputFile& file_;
  CodecGuard guard_;
  OutputBytes bytes_;
  Destination destination_{{}, &bytes_, &guard_, {}};
  jpeg_error_mgr errors_ = jpeg_errors();
  struct Handle {
    ~Handle() { jpeg_destroy_compress(&info); }
    jpeg_compress_struct info{};
  } handle_;
};

}  // namespace

std::unique_ptr<Writer> create_jpeg(const std::filesystem::path& path, const ImageSpec& requested_spec,
                                    const CreateOptions& requested) {
  BufferedPicture picture = make_buffered_picture(path, requested_spec, kJpeg, requested);
  const ImageSpec spec = picture.spec;
  const CreateOptions& options = picture.options;
  const Metadata& metadata = options.metadata;
  BufferedSink sink;
  JpegSettings settings;
  if (metadata.orientation != 1 || !metadata.exif.empty())
    add_segment(kExifName, encode_exif(metadata.exif, metadata.orientation, spec.extent), "EXIF",
                settings.app1, sink.warnings);
  add_segment(kXmpName, updated_xmp(metadata, spec.extent), "XMP", settings.app1, sink.warnings);
  add_segment(kPhotoshopName, encode_image_resources(metadata.iptc), "IPTC", settings.app13, sink.warnings);
  if (options.layout.level > 0) settings.quality = options.layout.level;
  settings.chroma = options.layout.chroma;
  sink.kind = fmt::format(" of quality {}{}", settings.quality,
                          spec.channels == 1 ? "" : " and " + name_of(settings.chroma));
  if (metadata.resolution) settings.density = density_of(*metadata.resolution);
  if (metadata.resolution && !settings.density) {
    sink.warnings.emplace_back("the resolution is not kept: JPEG holds whole numbers from 1 to 65535");
  } else if (settings.density && !settings.density->exact) {
    sink.warnings.push_back(fmt::format("the resolution is rounded to {} x {}: JPEG holds whole numbers",
                                        settings.density->x, settings.density->y));
  }
  if (metadata.icc_profile.size() <= kMaxJpegProfileBytes) {
    settings.icc_profile = metadata.icc_profile;
  } else {
    sink.warnings.emplace_back("the ICC profile is not kept: JPEG holds one of 16 MiB at most");
  }
  sink.encoder_bytes = libjpeg_bytes(spec.extent.cols, spec.channels) + buffered_bytes(metadata);
  return make_buffered_writer(path, kJpeg, std::move(picture), std::move(sink),
                              [settings = std::move(settings)](OutputFile& file, const PixelView& image) {
                                JpegEncoder(file).encode(settings, image);
                              });
}

}  // namespace sepconv
