// XMP and IPTC as photographs carry them. Private to io.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

/// For the chunk iTXt (XMP specification, part 3).
inline constexpr const char* kPngXmpKeyword = "XML:com.adobe.xmp";

/// The metadata's packet, with the orientation and the sides of an image like this where it states them.
std::vector<std::byte> xmp_of(const Metadata& metadata, Extent image);

/// Photoshop's image resources, as they lie behind a segment's name.
struct PhotoshopResources {
  std::span<const std::byte> iptc{};
  bool others = false;  ///< whether there are any besides it
};
PhotoshopResources read_resources(std::span<const std::byte> resources) noexcept;
/// Resources with this record alone; nothing of no record.
std::vector<std::byte> resources_of(std::span<const std::byte> iptc);

}  // namespace sepconv
