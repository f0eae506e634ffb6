#include "io/tiff/dropped_tags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <span>

#include "io/stack/imagej_items.hpp"

namespace sepconv {
namespace {

/// Tags of the storage and meaning of pixels, and tags with separate warnings.
constexpr std::uint32_t kInterpreted[] = {
    TIFFTAG_PHOTOMETRIC,  TIFFTAG_SUBFILETYPE,      TIFFTAG_OSUBFILETYPE,     TIFFTAG_IMAGEWIDTH,
    TIFFTAG_IMAGELENGTH,  TIFFTAG_BITSPERSAMPLE,    TIFFTAG_COMPRESSION,      TIFFTAG_FILLORDER,
    TIFFTAG_STRIPOFFSETS, TIFFTAG_SAMPLESPERPIXEL,  TIFFTAG_ROWSPERSTRIP,     TIFFTAG_STRIPBYTECOUNTS,
    TIFFTAG_PLANARCONFIG, TIFFTAG_PREDICTOR,        TIFFTAG_TILEWIDTH,        TIFFTAG_TILELENGTH,
    TIFFTAG_TILEOFFSETS,  TIFFTAG_TILEBYTECOUNTS,   TIFFTAG_SUBIFD,           TIFFTAG_SAMPLEFORMAT,
    TIFFTAG_JPEGTABLES,   TIFFTAG_YCBCRSUBSAMPLING, TIFFTAG_YCBCRPOSITIONING, TIFFTAG_IMAGEDEPTH,
    TIFFTAG_TILEDEPTH,
};

/// Whether libtiff parsed a value of the tag.
bool has_value(const TiffHandle& handle, std::uint32_t tag) {
  // Space for any kind of result: a value, a pointer, or a count and a pointer.
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  return TIFFGetField(handle.get(), tag, &first, &second) != 0;
}

/// Whether ReferenceBlackWhite is from 0 to the maximum, or that of every JPEG.
bool is_default_range(const TiffHandle& handle) {
  const float* range = nullptr;
  std::uint16_t bits = 8;
  if (TIFFGetField(handle.get(), TIFFTAG_REFERENCEBLACKWHITE, &range) == 0 || range == nullptr) return false;
  TIFFGetFieldDefaulted(handle.get(), TIFFTAG_BITSPERSAMPLE, &bits);
  const auto max_value = static_cast<float>((std::uint64_t{1} << std::min<int>(bits, 32)) - 1);
  const std::array<float, 6> full_range{0, max_value, 0, max_value, 0, max_value};
  constexpr std::array<float, 6> kJpeg{0, 255, 128, 255, 128, 255};
  std::uint16_t photometric = 0;
  TIFFGetField(handle.get(), TIFFTAG_PHOTOMETRIC, &photometric);
  return std::ranges::equal(std::span(range, 6), photometric == PHOTOMETRIC_YCBCR ? kJpeg : full_range);
}

/// Whether a palette is a grey ramp of packed pixels, which are read as greys without a table.
bool is_grey_palette(const TiffHandle& handle, const Metadata& metadata) {
  std::uint16_t photometric = 0;
  return TIFFGetField(handle.get(), TIFFTAG_PHOTOMETRIC, &photometric) != 0 &&
         photometric == PHOTOMETRIC_PALETTE && metadata.photometric != Photometric::other;
}

bool is_preserved(const TiffHandle& handle, std::uint32_t tag, const Metadata& metadata) {
  std::uint16_t ink_set = INKSET_CMYK;
  switch (tag) {
    case TIFFTAG_XRESOLUTION:
    case TIFFTAG_YRESOLUTION:
    case TIFFTAG_RESOLUTIONUNIT:
      return metadata.resolution.has_value();
    case TIFFTAG_ORIENTATION:
    case TIFFTAG_ICCPROFILE:
    case TIFFTAG_IMAGEDESCRIPTION:
    case TIFFTAG_SOFTWARE:
    case TIFFTAG_DATETIME:
    case TIFFTAG_ARTIST:
    case TIFFTAG_COPYRIGHT:
    case TIFFTAG_EXTRASAMPLES:
      return has_value(handle, tag);
    case TIFFTAG_MAKE:
    case TIFFTAG_MODEL:
      return std::ranges::find(metadata.exif.image, tag, &RawTag::tag) != metadata.exif.image.end();
    case TIFFTAG_EXIFIFD:
      return !metadata.exif.photo.empty();
    case TIFFTAG_GPSIFD:
      return !metadata.exif.place.empty();
    case TIFFTAG_XMLPACKET:
      return !metadata.xmp.empty();
    case TIFFTAG_RICHTIFFIPTC:
      return !metadata.iptc.empty();
    case TIFFTAG_INKSET:
      return TIFFGetField(handle.get(), tag, &ink_set) != 0 && ink_set == INKSET_CMYK;
    case TIFFTAG_REFERENCEBLACKWHITE:
      return is_default_range(handle);
    case TIFFTAG_COLORMAP:
      return metadata.colours || is_grey_palette(handle, metadata);
    case kImagejLengthsTag:
    case kImagejItemsTag:
      return !metadata.imagej_items.empty();
    default:
      return std::ranges::find(kInterpreted, tag) != std::end(kInterpreted) ||
             std::ranges::find(metadata.geo_tags, tag, &RawTag::tag) != metadata.geo_tags.end();
  }
}

/// Size of a text in `metadata`; null for tags that are not texts.
std::optional<std::size_t> text_bytes(std::uint32_t tag, const Metadata& metadata) {
  switch (tag) {
    case TIFFTAG_IMAGEDESCRIPTION:
      return metadata.description.size();
    case TIFFTAG_SOFTWARE:
      return metadata.software.size();
    case TIFFTAG_DATETIME:
      return metadata.date_time.size();
    case TIFFTAG_ARTIST:
      return metadata.artist.size();
    case TIFFTAG_COPYRIGHT:
      return metadata.copyright.size();
    default:
      break;
  }
  const auto found = std::ranges::find(metadata.geo_tags, tag, &RawTag::tag);
  if (found == metadata.geo_tags.end() || found->type != TIFF_ASCII) return std::nullopt;
  return found->data.size();
}

/// Whether a text continues with other bytes than zeros after its first zero, where libtiff ends it.
bool is_truncated(const InputFile& file, const TiffEntry& entry, const Metadata& metadata) {
  const auto text_size = text_bytes(entry.tag, metadata);
  if (!text_size || entry.type != TIFF_ASCII) return false;
  std::array<std::byte, 4096> piece{};
  for (auto at = static_cast<std::int64_t>(*text_size); at < entry.bytes(); at += std::ssize(piece)) {
    const auto chunk = std::span(piece).first(
        static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(piece), entry.bytes() - at)));
    const auto read = static_cast<std::size_t>(file.read_some_at(entry.value_offset + at, chunk));
    if (std::ranges::any_of(chunk.first(read), [](std::byte byte) { return byte != std::byte{0}; }))
      return true;
    if (read < chunk.size()) return false;
  }
  return false;
}

std::string name_of(const TiffHandle& handle, std::uint32_t tag) {
  if (tag == kImagejLengthsTag || tag == kImagejItemsTag)
    return fmt::format("{} (ImageJ's display ranges, LUTs, labels, regions)", tag);
  const TIFFField* const field = TIFFFindField(handle.get(), tag, TIFF_ANY);
  const std::string_view known =
      field == nullptr || TIFFFieldIsAnonymous(field) != 0 ? "" : TIFFFieldName(field);
  return known.empty() ? fmt::format("{}", tag) : fmt::format("{} ({})", tag, known);
}

std::string list_text(std::vector<std::string> names) {
  constexpr std::size_t kMaxListed = 8;
  const std::size_t omitted = names.size() > kMaxListed ? names.size() - kMaxListed : 0;
  names.resize(names.size() - omitted);
  return omitted == 0 ? fmt::format("{}", fmt::join(names, ", "))
                      : fmt::format("{} and {} more", fmt::join(names, ", "), omitted);
}

}  // namespace

std::vector<std::string> tags_left_out(const TiffHandle& handle, const InputFile& file, const TiffPage& page,
                                       const Metadata& metadata) {
  std::vector<std::string> left_out;
  std::vector<std::string> truncated;
  for (const TiffEntry& entry : page.entries.list) {
    if (std::ranges::find(page.too_large, entry.tag) != page.too_large.end()) continue;
    if (!is_preserved(handle, entry.tag, metadata)) {
      left_out.push_back(name_of(handle, entry.tag));
    } else if (is_truncated(file, entry, metadata)) {
      truncated.push_back(name_of(handle, entry.tag));
    }
  }
  std::vector<std::string> all;
  if (!left_out.empty())
    all.push_back(fmt::format("tags that are not carried along: {}", list_text(std::move(left_out))));
  if (!truncated.empty())
    all.push_back(fmt::format("texts that are carried along only up to their first zero byte: {}",
                              list_text(std::move(truncated))));
  return all;
}

}  // namespace sepconv
