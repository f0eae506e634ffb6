#include "io/gdal_metadata.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <string_view>
#include <utility>

#include "io/xml.hpp"

namespace sepconv {
namespace {

bool is_letter(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// GDAL compares without case.
bool is(std::string_view text, std::string_view word) { return std::ranges::equal(text, word, is_letter); }
bool begins(std::string_view text, std::string_view word) { return is(text.substr(0, word.size()), word); }

bool is_of(const pugi::xml_attribute& attribute, GdalItems kind) {
  const std::string_view name = attribute.name(), value = attribute.value();
  switch (kind) {
    case GdalItems::statistics:
      return is(name, "name") && begins(value, "STATISTICS_");
    case GdalItems::places:
      return is(name, "domain") &&
             (is(value, "GEOLOCATION") || is(value, "TILING_SCHEME") || is(value, "RPC"));
    case GdalItems::colours:
      return is(name, "role") && is(value, "colorinterp");
    default:
      return is(name, "role") && (is(value, "scale") || is(value, "offset"));
  }
}

/// Items of the kind, and how many others there are.
struct Found final : pugi::xml_tree_walker {
  explicit Found(GdalItems kind) : kind_(kind) {}

  bool for_each(pugi::xml_node& node) override {
    if (!is(node.name(), "Item")) return true;
    const auto are_of = [this](const pugi::xml_attribute& attribute) { return is_of(attribute, kind_); };
    if (std::ranges::any_of(node.attributes(), are_of))
      items.push_back(node);
    else
      ++others;
    return true;
  }

  std::vector<pugi::xml_node> items;
  std::size_t others = 0;

 private:
  GdalItems kind_;
};

/// With the space that follows it, which set it off from the next.
void remove(pugi::xml_node item) {
  pugi::xml_node parent = item.parent();
  const pugi::xml_node next = item.next_sibling();
  const std::string_view text = next.value();
  if (next.type() == pugi::node_pcdata && text.find_first_not_of(" \t\r\n") == text.npos)
    parent.remove_child(next);
  parent.remove_child(item);
}

}  // namespace

GdalRest without_items(const std::string& xml, GdalItems kind) {
  GdalRest rest;
  pugi::xml_document document;
  rest.problem = parse_xml(xml, pugi::parse_full | pugi::parse_ws_pcdata, document);
  if (!rest.problem.empty()) return rest;
  Found found(kind);
  document.traverse(found);
  rest.has_any = !found.items.empty();
  if (!rest.has_any || found.others == 0) return rest;
  // Items in items go before those.
  for (auto item = found.items.rbegin(); item != found.items.rend(); ++item) remove(*item);
  rest.xml = xml_text(document);
  return rest;
}

std::vector<std::string> band_descriptions(const std::string& xml) {
  pugi::xml_document document;
  if (!parse_xml(xml, pugi::parse_default, document).empty()) return {};
  std::map<unsigned, std::string> names;
  for (const pugi::xml_node& item : document.document_element().children("Item"))
    if (is(item.attribute("role").value(), "description"))
      names[item.attribute("sample").as_uint()] = item.text().as_string();
  std::vector<std::string> in_order;
  for (auto& [band, name] : names) in_order.push_back(std::move(name));
  return in_order;
}

}  // namespace sepconv
