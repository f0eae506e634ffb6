#include "io/tiff/tiff_tags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "core/geometry.hpp"
#include "io/gdal_tags.hpp"
#include "io/stack/imagej_items.hpp"
#include "io/tiff/tiff_colours.hpp"

namespace sepconv {
namespace {

/// Tags that are copied without interpretation: GeoTIFF 1.1, and GDAL's metadata and nodata value. libtiff
/// does not define them.
struct GeoTag {
  std::uint32_t tag;
  const char* name;
};
constexpr GeoTag kGeoTags[] = {
    {33550, "ModelPixelScaleTag"},    {33922, "ModelTiepointTag"},   {34264, "ModelTransformationTag"},
    {34735, "GeoKeyDirectoryTag"},    {34736, "GeoDoubleParamsTag"}, {34737, "GeoAsciiParamsTag"},
    {kGdalMetadata, "GDAL_METADATA"}, {kGdalNodata, "GDAL_NODATA"},  {50844, "RPCCoefficientTag"},
};
/// ImageJ's tags, stored in Metadata::imagej_items.
constexpr GeoTag kImagejTags[] = {{kImagejLengthsTag, "IJMetadataByteCounts"},
                                  {kImagejItemsTag, "IJMetadata"}};

std::string read_text(const TiffHandle& handle, std::uint32_t tag) {
  const char* text = nullptr;
  return TIFFGetField(handle.get(), tag, &text) != 0 && text != nullptr ? text : "";
}

// libtiff stores rationals as floats, and offsets of directories in its own width. No tag of the table has
// such a type.
bool is_stored_unchanged(TIFFDataType type) {
  return type != TIFF_RATIONAL && type != TIFF_SRATIONAL && type != TIFF_IFD && type != TIFF_IFD8;
}

// libtiff creates a field for an unknown tag. Its count has 16 or 32 bits, depending on the definition of the
// field.
std::optional<RawTag> read_raw(const TiffHandle& handle, std::uint32_t tag) {
  const TIFFField* description = TIFFFindField(handle.get(), tag, TIFF_ANY);
  if (description == nullptr) return std::nullopt;
  const TIFFDataType type = TIFFFieldDataType(description);
  const bool must_be_text = tag == kGdalMetadata || tag == kGdalNodata;
  if (!is_stored_unchanged(type) || (must_be_text && type != TIFF_ASCII)) return std::nullopt;
  std::uint64_t count = 0;
  const void* data = nullptr;
  if (TIFFFieldPassCount(description) == 0) {
    if (type != TIFF_ASCII || TIFFGetField(handle.get(), tag, &data) == 0 || data == nullptr)
      return std::nullopt;
    count = std::strlen(static_cast<const char*>(data)) + 1;
  } else if (TIFFFieldReadCount(description) == TIFF_VARIABLE2) {
    std::uint32_t count32 = 0;
    if (TIFFGetField(handle.get(), tag, &count32, &data) == 0) return std::nullopt;
    count = count32;
  } else {
    std::uint16_t count16 = 0;
    if (TIFFGetField(handle.get(), tag, &count16, &data) == 0) return std::nullopt;
    count = count16;
  }
  if (data == nullptr || count == 0) return std::nullopt;
  const auto* bytes = static_cast<const std::byte*>(data);
  return RawTag{tag,
                static_cast<std::uint16_t>(type),
                count,
                {bytes, bytes + count * static_cast<std::uint64_t>(TIFFDataWidth(type))}};
}

// libtiff treats an unknown unit as the inch.
std::optional<Resolution> read_resolution(const TiffHandle& handle, const TiffEntries& entries) {
  float x = 0;
  float y = 0;
  if (TIFFGetField(handle.get(), TIFFTAG_XRESOLUTION, &x) == 0 ||
      TIFFGetField(handle.get(), TIFFTAG_YRESOLUTION, &y) == 0) {
    return std::nullopt;
  }
  std::uint16_t unit = RESUNIT_INCH;
  if (TIFFGetField(handle.get(), TIFFTAG_RESOLUTIONUNIT, &unit) == 0 &&
      entries.find(TIFFTAG_RESOLUTIONUNIT) != nullptr)
    return std::nullopt;
  if (!(x > 0) || !(y > 0) || unit < RESUNIT_NONE || unit > RESUNIT_CENTIMETER) return std::nullopt;
  return Resolution{x, y, static_cast<Resolution::Unit>(unit)};
}

Photometric photometric_of(const TiffHandle& handle, std::uint16_t value) {
  std::uint16_t ink_set = INKSET_CMYK;
  TIFFGetField(handle.get(), TIFFTAG_INKSET, &ink_set);
  switch (value) {
    case PHOTOMETRIC_MINISWHITE:
      return Photometric::min_is_white;
    case PHOTOMETRIC_MINISBLACK:
      return Photometric::min_is_black;
    case PHOTOMETRIC_RGB:
    case PHOTOMETRIC_YCBCR:
      return Photometric::rgb;
    case PHOTOMETRIC_SEPARATED:
      return ink_set == INKSET_CMYK ? Photometric::cmyk : Photometric::other;
    case PHOTOMETRIC_CIELAB:
      return Photometric::cielab;
    case PHOTOMETRIC_ICCLAB:
      return Photometric::icc_lab;
    case PHOTOMETRIC_ITULAB:
      return Photometric::itu_lab;
    default:
      return Photometric::other;
  }
}

std::optional<Photometric> read_photometric(const TiffHandle& handle) {
  std::uint16_t value = 0;
  std::uint16_t channels = 1;
  if (TIFFGetField(handle.get(), TIFFTAG_PHOTOMETRIC, &value) == 0 || value == PHOTOMETRIC_MASK)
    return std::nullopt;
  TIFFGetFieldDefaulted(handle.get(), TIFFTAG_SAMPLESPERPIXEL, &channels);
  const Photometric photometric = photometric_of(handle, value);
  return colour_channels(photometric) <= channels ? photometric : Photometric::other;
}

void write_text(const TiffHandle& handle, std::uint32_t tag, const std::string& text) {
  if (text.empty()) return;
  handle.check(TIFFSetField(handle.get(), tag, text.c_str()) != 0, "cannot store a text of its metadata");
}

/// Writes camera texts of the image's own directory; texts in the metadata take precedence.
void write_exif_texts(const TiffHandle& handle, const Metadata& metadata) {
  struct Name {
    std::uint32_t tag;
    const std::string Metadata::*text;
  };
  constexpr Name names[] = {{TIFFTAG_IMAGEDESCRIPTION, &Metadata::description},
                            {TIFFTAG_MAKE, nullptr},
                            {TIFFTAG_MODEL, nullptr},
                            {TIFFTAG_SOFTWARE, &Metadata::software},
                            {TIFFTAG_DATETIME, &Metadata::date_time},
                            {TIFFTAG_ARTIST, &Metadata::artist},
                            {TIFFTAG_COPYRIGHT, &Metadata::copyright}};
  for (const RawTag& raw : metadata.exif.image) {
    const auto* const name = std::ranges::find(names, raw.tag, &Name::tag);
    if (name == std::end(names) || raw.type != TIFF_ASCII) continue;
    if (name->text != nullptr && !(metadata.*name->text).empty()) continue;
    const auto* const data = reinterpret_cast<const char*>(raw.data.data());
    write_text(handle, raw.tag, std::string(data, strnlen(data, raw.data.size())));
  }
}

void write_photograph(const TiffHandle& handle, const Metadata& metadata) {
  write_exif_texts(handle, metadata);
  if (const auto& xmp = metadata.xmp; !xmp.empty())
    handle.check(TIFFSetField(handle.get(), TIFFTAG_XMLPACKET, static_cast<std::uint32_t>(xmp.size()),
                              xmp.data()) != 0,
                 "cannot store its XMP");
  if (const auto& iptc = metadata.iptc; !iptc.empty()) {
    // The field has bytes, or 32-bit numbers in older versions of libtiff.
    const TIFFField* const field = TIFFFindField(handle.get(), TIFFTAG_RICHTIFFIPTC, TIFF_ANY);
    const std::int64_t width = field == nullptr ? 1 : TIFFDataWidth(TIFFFieldDataType(field));
    std::vector<std::byte> padded = iptc;
    padded.resize(static_cast<std::size_t>(round_up(std::ssize(padded), width)));
    const auto count = static_cast<std::uint32_t>(std::ssize(padded) / width);
    handle.check(TIFFSetField(handle.get(), TIFFTAG_RICHTIFFIPTC, count, padded.data()) != 0,
                 "cannot store its IPTC");
  }
}

void write_raw(const TiffHandle& handle, const RawTag& raw, std::span<const GeoTag> tags = kGeoTags) {
  const auto known = std::ranges::find(tags, raw.tag, &GeoTag::tag);
  const auto type = static_cast<TIFFDataType>(raw.type);
  const auto width = static_cast<std::uint64_t>(TIFFDataWidth(type));
  const bool is_valid =
      width > 0 && is_stored_unchanged(type) && !raw.data.empty() && raw.count == raw.data.size() / width;
  if (known == tags.end() || !is_valid) return;
  const TIFFFieldInfo description{
      raw.tag, TIFF_VARIABLE2, TIFF_VARIABLE2, type, FIELD_CUSTOM, 1, 1, const_cast<char*>(known->name)};
  handle.check(TIFFMergeFieldInfo(handle.get(), &description, 1) == 0, "cannot describe a GeoTIFF tag");
  const auto* data = reinterpret_cast<const char*>(raw.data.data());
  // Otherwise libtiff defines the tag, as a text.
  const bool has_count = TIFFFieldPassCount(TIFFFindField(handle.get(), raw.tag, TIFF_ANY)) != 0;
  const int stored =
      !has_count
          ? TIFFSetField(handle.get(), raw.tag, std::string(data, strnlen(data, raw.data.size())).c_str())
          : TIFFSetField(handle.get(), raw.tag, static_cast<std::uint32_t>(raw.count), data);
  handle.check(stored != 0, fmt::format("cannot store tag {} ({})", raw.tag, known->name));
}

}  // namespace

int colour_channels(Photometric photometric) noexcept {
  switch (photometric) {
    case Photometric::rgb:
    case Photometric::cielab:
    case Photometric::icc_lab:
    case Photometric::itu_lab:
      return 3;
    case Photometric::cmyk:
      return 4;
    default:
      return 1;
  }
}

namespace {

std::vector<ImagejItem> read_imagej(const TiffHandle& handle) {
  const auto lengths = read_raw(handle, kImagejLengthsTag);
  const auto items = read_raw(handle, kImagejItemsTag);
  if (!lengths || !items || lengths->type != TIFF_LONG ||
      TIFFDataWidth(static_cast<TIFFDataType>(items->type)) != 1)
    return {};
  std::vector<std::uint32_t> numbers(lengths->count);
  std::memcpy(numbers.data(), lengths->data.data(), lengths->data.size());
  return read_imagej_items(numbers, items->data);
}

}  // namespace

Metadata read_metadata(const TiffHandle& handle, const TiffPage& page) {
  Metadata metadata;
  metadata.resolution = read_resolution(handle, page.entries);
  std::uint16_t orientation = 0;
  if (TIFFGetField(handle.get(), TIFFTAG_ORIENTATION, &orientation) != 0 &&
      orientation >= ORIENTATION_TOPLEFT && orientation <= ORIENTATION_LEFTBOT) {
    metadata.orientation = orientation;
  }
  std::uint32_t profile_bytes = 0;
  const std::byte* profile = nullptr;
  if (TIFFGetField(handle.get(), TIFFTAG_ICCPROFILE, &profile_bytes, &profile) != 0 && profile != nullptr) {
    metadata.icc_profile.assign(profile, profile + profile_bytes);
  }
  metadata.description = read_text(handle, TIFFTAG_IMAGEDESCRIPTION);
  metadata.software = read_text(handle, TIFFTAG_SOFTWARE);
  metadata.date_time = read_text(handle, TIFFTAG_DATETIME);
  metadata.artist = read_text(handle, TIFFTAG_ARTIST);
  metadata.copyright = read_text(handle, TIFFTAG_COPYRIGHT);
  for (const GeoTag& geo : kGeoTags) {
    if (auto raw = read_raw(handle, geo.tag)) metadata.geo_tags.push_back(std::move(*raw));
  }
  metadata.photometric = read_photometric(handle);
  std::uint16_t extra_count = 0;
  const std::uint16_t* extra = nullptr;
  if (TIFFGetField(handle.get(), TIFFTAG_EXTRASAMPLES, &extra_count, &extra) != 0 && extra != nullptr) {
    metadata.extra_samples.assign(extra, extra + extra_count);
  }
  add_colours(handle, page.has_luts, metadata);
  metadata.imagej_items = read_imagej(handle);
  return metadata;
}

namespace {

void write_imagej(const TiffHandle& handle, const std::vector<ImagejItem>& items) {
  if (items.empty()) return;
  const auto [lengths, bytes] = encode_imagej_items(items);
  const auto numbers = std::as_bytes(std::span(lengths));
  write_raw(handle, {kImagejLengthsTag, TIFF_LONG, lengths.size(), {numbers.begin(), numbers.end()}},
            kImagejTags);
  write_raw(handle, {kImagejItemsTag, TIFF_BYTE, bytes.size(), bytes}, kImagejTags);
}

}  // namespace

void write_metadata(const TiffHandle& handle, const Metadata& metadata) {
  TIFF* tiff = handle.get();
  if (const auto& resolution = metadata.resolution) {
    const bool stored = TIFFSetField(tiff, TIFFTAG_XRESOLUTION, resolution->x) != 0 &&
                        TIFFSetField(tiff, TIFFTAG_YRESOLUTION, resolution->y) != 0 &&
                        TIFFSetField(tiff, TIFFTAG_RESOLUTIONUNIT, static_cast<int>(resolution->unit)) != 0;
    handle.check(stored, "cannot store its resolution");
  }
  if (metadata.orientation != ORIENTATION_TOPLEFT) {
    handle.check(TIFFSetField(tiff, TIFFTAG_ORIENTATION, metadata.orientation) != 0,
                 "cannot store its orientation");
  }
  if (!metadata.icc_profile.empty()) {
    handle.check(
        TIFFSetField(tiff, TIFFTAG_ICCPROFILE, static_cast<std::uint32_t>(metadata.icc_profile.size()),
                     metadata.icc_profile.data()) != 0,
        "cannot store its ICC profile");
  }
  write_text(handle, TIFFTAG_IMAGEDESCRIPTION, metadata.description);
  write_text(handle, TIFFTAG_SOFTWARE, metadata.software);
  write_text(handle, TIFFTAG_DATETIME, metadata.date_time);
  write_text(handle, TIFFTAG_ARTIST, metadata.artist);
  write_text(handle, TIFFTAG_COPYRIGHT, metadata.copyright);
  write_photograph(handle, metadata);
  for (const RawTag& raw : metadata.geo_tags) write_raw(handle, raw);
  write_colours(handle, metadata);
  write_imagej(handle, metadata.imagej_items);
}

std::int64_t memory_bytes(const Metadata& metadata) {
  std::size_t bytes = metadata.icc_profile.size() + metadata.description.size() + metadata.software.size() +
                      metadata.date_time.size() + metadata.artist.size() + metadata.copyright.size() +
                      2 * metadata.extra_samples.size() + metadata.xmp.size() + metadata.iptc.size() +
                      static_cast<std::size_t>(metadata.exif.bytes());
  for (const RawTag& raw : metadata.geo_tags) bytes += raw.data.size();
  for (const ImagejItem& item : metadata.imagej_items) bytes += item.data.size() + 2 * sizeof(std::uint32_t);
  if (metadata.colours) bytes += std::size_t{3 * 2} * std::max<std::size_t>(256, metadata.colours->size());
  return static_cast<std::int64_t>(2 * bytes);
}

}  // namespace sepconv
