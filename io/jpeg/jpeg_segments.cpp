#include "io/jpeg/jpeg_segments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "io/buffered_image.hpp"
#include "io/byte_order.hpp"
#include "io/byte_stream.hpp"
#include "io/exif.hpp"
#include "io/photograph.hpp"

namespace sepconv {
namespace {

enum Marker : int {
  standalone = 0x01,
  restart0 = 0xD0,
  end_of_image = 0xD9,
  start_of_scan = 0xDA,
  app0 = 0xE0,
  app1,
  app2,
  app13 = 0xED,
  app14,
  app15,
  comment = 0xFE
};

/// An ICC profile split into several segments: ICC.1, annex B.4.
class SplitProfile {
 public:
  /// `data`: number of the piece, from 1; number of pieces; bytes.
  void add(std::span<const std::byte> data) {
    has_pieces_ = true;
    if (data.size() < 2) return mark_damaged();
    const auto index = std::to_integer<std::size_t>(data[0]);
    const auto count = std::to_integer<std::size_t>(data[1]);
    if (pieces_.empty()) pieces_.resize(count);
    const bool fits = index >= 1 && index <= pieces_.size() && count == pieces_.size() &&
                      pieces_[index - 1].empty() && data.size() > 2;
    if (!fits) return mark_damaged();
    pieces_[index - 1].assign(data.begin() + 2, data.end());
  }

  void add_to(JpegExtras& extras) const {
    if (!has_pieces_) return;
    std::vector<std::byte> all;
    bool complete = !damaged_;
    for (const auto& piece : pieces_) {
      complete = complete && !piece.empty();
      all.insert(all.end(), piece.begin(), piece.end());
    }
    if (!complete) {
      extras.warnings.emplace_back("the ICC profile is damaged and left out");
    } else if (std::ssize(all) > kMaxProfileBytes) {
      extras.warnings.push_back(
          fmt::format("the ICC profile of {} bytes is left out: it is too large", all.size()));
    } else {
      extras.icc_profile = std::move(all);
    }
  }

 private:
  void mark_damaged() { damaged_ = true; }

  bool has_pieces_ = false;
  bool damaged_ = false;
  std::vector<std::vector<std::byte>> pieces_;
};

class SegmentReader {
 public:
  explicit SegmentReader(const InputFile& file) : file_(file), bytes_(file, 2) {}

  /// Stops silently at invalid segments: libjpeg reports them.
  JpegExtras read_all() {
    for (int marker = next_marker(); marker != -1 && marker != start_of_scan && marker != end_of_image;
         marker = next_marker()) {
      if (marker == standalone || (marker >= restart0 && marker < end_of_image)) continue;
      const int high = bytes_.get();
      const int low = bytes_.get();
      const std::int64_t length = high * 256 + low - 2;
      const std::int64_t end = bytes_.position() + length;
      if (low < 0 || length < 0 || end > file_.size()) break;
      if ((marker >= app0 && marker <= app15) || marker == comment) read_segment(marker, length);
      bytes_.skip(end - bytes_.position());
    }
    profile_.add_to(extras_);
    if (!left_out_.empty()) {
      extras_.warnings.push_back(fmt::format("{} in the file {} left out", fmt::join(left_out_, ", "),
                                             left_out_.size() == 1 ? "is" : "are"));
    }
    return std::move(extras_);
  }

 private:
  /// Skips bytes before a marker, as libjpeg does.
  int next_marker() {
    int byte = bytes_.get();
    for (;;) {
      while (byte != 0xFF && byte != -1) byte = bytes_.get();
      while (byte == 0xFF) byte = bytes_.get();
      if (byte != 0) return byte;
    }
  }

  void read_segment(int marker, std::int64_t length) {
    std::vector<std::byte> data(static_cast<std::size_t>(length));
    bytes_.read(data);
    const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
    constexpr std::string_view icc("ICC_PROFILE\0", 12);
    constexpr std::string_view index("MPF\0", 4);
    if (marker == app1 && text.starts_with(kExifName)) {
      parse_exif(std::span(data).subspan(kExifName.size()));
    } else if (marker == app2 && text.starts_with(icc)) {
      profile_.add(std::span(data).subspan(icc.size()));
    } else if (marker == app1 && text.starts_with("http://ns.adobe.com/")) {
      if (text.starts_with(kXmpName) && extras_.xmp.empty())
        extras_.xmp.assign(data.begin() + static_cast<std::ptrdiff_t>(kXmpName.size()), data.end());
      else
        add_left_out("further XMP data");
    } else if (marker == app2 && text.starts_with(index)) {
      parse_image_index(std::span(data).subspan(index.size()));
    } else if (marker == app13 && text.starts_with("Photoshop")) {
      parse_photoshop(std::span(data).subspan(std::min(kPhotoshopName.size(), data.size())));
    } else if (marker == comment) {
      add_left_out("a comment");
    } else if (marker != app0 && marker != app14) {  // libjpeg reads JFIF and Adobe
      add_left_out(fmt::format("application data (APP{})", marker - app0));
    }
  }

  void parse_exif(std::span<const std::byte> tiff) {
    if (std::exchange(has_exif_, true)) return;
    ExifRead read = read_exif(tiff);
    extras_.orientation = read.orientation;
    extras_.exif = std::move(read.exif);
    if (read.damaged) extras_.warnings.emplace_back("the EXIF data are damaged and left out");
    if (read.lost) extras_.warnings.emplace_back("a part of the EXIF data is damaged and left out");
  }

  void parse_photoshop(std::span<const std::byte> resources) {
    const PhotoshopResources found = read_resources(resources);
    if (!found.iptc.empty()) extras_.iptc.assign(found.iptc.begin(), found.iptc.end());
    if (found.others) add_left_out("Photoshop data other than IPTC");
  }

  /// Phones store thumbnails and gain maps there, stereo cameras the other eye's image.
  void parse_image_index(std::span<const std::byte> tiff) {
    const auto images = mpf_image_count(tiff);
    if (!images) return add_left_out("an index of further images (MPF)");
    if (*images > 1)
      extras_.warnings.push_back(
          fmt::format("the file holds {} images (MPF), and only the first is read", *images));
  }

  void add_left_out(std::string name) {
    if (std::ranges::find(left_out_, name) == left_out_.end()) left_out_.push_back(std::move(name));
  }

  const InputFile& file_;
  InputBytes bytes_;
  SplitProfile profile_;
  bool has_exif_ = false;
  std::vector<std::string> left_out_;
  JpegExtras extras_;
};

/// Whether GDAL's JPEG driver appended a compressed one-bit mask to the picture. The last four bytes of the
/// file are its offset.
bool has_gdal_mask(const InputFile& file) {
  constexpr std::int64_t kOffsetBytes = 4;
  std::array<std::byte, kOffsetBytes> offset_bytes{}, found{};
  if (file.size() < 4 * kOffsetBytes) return false;
  file.read_at(file.size() - kOffsetBytes, offset_bytes);
  const auto offset = static_cast<std::int64_t>(read_unsigned(offset_bytes, false));
  if (offset < file.size() / 2 || offset > file.size() - 2 * kOffsetBytes) return false;
  file.read_at(offset - 2, found);
  constexpr std::array<std::byte, 3> kMaskStart{std::byte{0xFF}, std::byte{end_of_image}, std::byte{0x78}};
  return std::equal(kMaskStart.begin(), kMaskStart.end(), found.begin());
}

}  // namespace

JpegExtras read_jpeg_extras(const InputFile& file) {
  JpegExtras extras = SegmentReader(file).read_all();
  if (has_gdal_mask(file))
    extras.warnings.emplace_back(
        "the mask that GDAL appended to the picture is left out: no pixel is missing; gdal_translate to "
        "TIFF keeps it");
  return extras;
}

}  // namespace sepconv
