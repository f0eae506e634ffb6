// The metadata segments of a JPEG file, which libjpeg does not interpret.
#pragma once

#include <string>
#include <vector>

#include "io/byte_file.hpp"
#include "io/metadata.hpp"

namespace sepconv {

struct JpegExtras {
  std::vector<std::byte> icc_profile;
  std::uint16_t orientation = 1;
  Exif exif{};
  std::vector<std::byte> xmp{}, iptc{};
  std::vector<std::string> warnings;
};

/// Reads the segments before the pixels. Damaged data are left out with a warning.
JpegExtras read_jpeg_extras(const InputFile& file);

/// Prefixes of JPEG segments with EXIF, XMP and Photoshop resources, which include IPTC.
inline constexpr std::string_view kExifName{"Exif\0\0", 6};
inline constexpr std::string_view kXmpName{"http://ns.adobe.com/xap/1.0/\0", 29};
inline constexpr std::string_view kPhotoshopName{"Photoshop 3.0\0", 14};

}  // namespace sepconv
