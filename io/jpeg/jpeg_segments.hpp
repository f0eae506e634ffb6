// The segments of a JPEG file that are not for libjpeg: what comes along with the pixels.
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

/// Looks at the segments before the pixels. What is damaged is left out with a warning.
JpegExtras read_jpeg_extras(const InputFile& file);

/// What EXIF, XMP and Photoshop's resources, IPTC among them, begin with in a JPEG.
inline constexpr std::string_view kExifName{"Exif\0\0", 6};
inline constexpr std::string_view kXmpName{"http://ns.adobe.com/xap/1.0/\0", 29};
inline constexpr std::string_view kPhotoshopName{"Photoshop 3.0\0", 14};

}  // namespace sepconv
