// Encoding of XMP and IPTC. Private to io.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

/// Keyword of the chunk iTXt (XMP specification, part 3).
inline constexpr const char* kPngXmpKeyword = "XML:com.adobe.xmp";

/// The XMP packet of the metadata. Orientation and size, if the packet contains them, are set to those of the
/// image.
std::vector<std::byte> updated_xmp(const Metadata& metadata, Extent image);

/// Contents of Photoshop's image resources (the data after a segment's name).
struct PhotoshopResources {
  std::span<const std::byte> iptc{};
  bool others = false;  ///< whether other resources exist
};
PhotoshopResources read_resources(std::span<const std::byte> resources) noexcept;
/// Encodes image resources that contain only this IPTC record; empty without a record.
std::vector<std::byte> encode_image_resources(std::span<const std::byte> iptc);

}  // namespace sepconv
