// OME-XML as a tree. Names are compared without their namespace prefixes. Private to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/metadata.hpp"
#include "io/xml.hpp"

namespace sepconv {

/// Parses OME-XML. Returns an empty string, or why it cannot be used.
std::string parse_ome(const std::string& xml, pugi::xml_document& document);

bool has_ome_name(const pugi::xml_node& node, std::string_view name);
pugi::xml_node ome_child(const pugi::xml_node& node, std::string_view name);
std::vector<pugi::xml_node> ome_children(const pugi::xml_node& node, std::string_view name);
/// A count or an index: -1 if the attribute is not a whole number from 0 on, `missing` if it does not exist.
std::int64_t ome_count(const pugi::xml_attribute& attribute, std::int64_t missing = 0);
/// The attributes of Pixels that are sizes and steps.
inline constexpr const char* kOmeSizes[] = {"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ",
                                            "TimeIncrement"};
/// 0xRRGGBB; null if the channel has no colour or it is not a whole number of 32 bits.
std::optional<std::uint32_t> ome_colour(const pugi::xml_node& channel);
template <class Value>
void set_attribute(pugi::xml_node node, const char* name, const Value& value) {
  pugi::xml_attribute attribute = node.attribute(name);
  if (!attribute) attribute = node.append_attribute(name);
  attribute.set_value(value);
}
/// The size of an axis; 1 if it does not exist.
std::int64_t ome_size(const RasterAxes& axes, const char* name);
/// Updates Pixels for a result with these axes whose planes begin at `first_page`. Returns whether metadata
/// of remaining channels or planes were removed.
bool set_ome_pixels(pugi::xml_node pixels, const RasterAxes& axes, const ImageChange& change,
                    std::int64_t first_page);
/// Whether two Pixels have the same shape and type.
bool has_same_shape(const pugi::xml_node& pixels, const pugi::xml_node& first);

}  // namespace sepconv
