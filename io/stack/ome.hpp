// OME-XML as a tree; names are compared without their prefixes. Internal to this folder.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "io/metadata.hpp"
#include "io/xml.hpp"

namespace sepconv {

/// Empty, or why it is of no use.
std::string parse_ome(const std::string& xml, pugi::xml_document& document);

bool ome_is(const pugi::xml_node& node, std::string_view name);
pugi::xml_node ome_child(const pugi::xml_node& node, std::string_view name);
std::vector<pugi::xml_node> ome_children(const pugi::xml_node& node, std::string_view name);
template <class Value>
void set_ome(pugi::xml_node node, const char* name, const Value& value) {
  pugi::xml_attribute attribute = node.attribute(name);
  if (!attribute) attribute = node.append_attribute(name);
  attribute.set_value(value);
}
/// 1 for an axis that is not there.
std::int64_t ome_size(const RasterAxes& axes, const char* name);
/// Makes Pixels say what is true of a result at these axes, from this page on. Whether something fell that
/// was told of channels or planes that are left.
bool set_ome_pixels(pugi::xml_node pixels, const RasterAxes& axes, const ImageChange& change,
                    std::int64_t first_page);
/// Whether two Pixels are of one shape and type.
bool is_like(const pugi::xml_node& pixels, const pugi::xml_node& first);

}  // namespace sepconv
