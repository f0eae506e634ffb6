#include "io/xml.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

namespace sepconv {
namespace {

bool is_too_deep(pugi::xml_document& document) {
  struct Walker final : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node&) override { return depth() < kMaxXmlDepth; }
  } walker;
  return !document.traverse(walker);
}

}  // namespace

std::string parse_xml(std::string_view text, unsigned options, pugi::xml_document& document) {
  if (std::ranges::count(text, '<') > kMaxXmlElements)
    return fmt::format("has more than the {} elements that are read", kMaxXmlElements);
  const auto result = document.load_buffer(text.data(), text.size(), options);
  if (!result) return fmt::format("is damaged at byte {}", result.offset);
  if (is_too_deep(document))
    return fmt::format("is nested deeper than the {} levels that are read", kMaxXmlDepth);
  return {};
}

std::string xml_text(pugi::xml_document& document) {
  for (pugi::xml_node& child : document.children())
    if (child.type() == pugi::node_declaration) child.attribute("encoding").set_value("UTF-8");
  std::ostringstream text;
  document.save(text, "", pugi::format_raw, pugi::encoding_utf8);
  return text.str();
}

}  // namespace sepconv
