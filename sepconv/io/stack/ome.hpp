// OME-XML as a tree; names are compared without their prefixes. Internal to this folder.
#pragma once

#include <pugixml.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

/// Empty, or why it is of no use. Entities of a document's own are not expanded (pugixml knows none).
std::string parse_ome(const std::string& xml, pugi::xml_document& document);

bool ome_is(const pugi::xml_node& node, std::string_view name);
pugi::xml_node ome_child(const pugi::xml_node& node, std::string_view name);
std::vector<pugi::xml_node> ome_children(const pugi::xml_node& node, std::string_view name);
/// Whether two Pixels are of one shape and type.
bool is_like(const pugi::xml_node& pixels, const pugi::xml_node& first);

}  // namespace sepconv
