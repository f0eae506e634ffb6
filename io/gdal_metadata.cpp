#include "io/gdal_metadata.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <vector>

#include "io/nodata.hpp"
#include "io/xml.hpp"

namespace sepconv {
namespace {

bool equal_letters(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

/// GDAL's comparisons ignore case.
bool equals_ignoring_case(std::string_view text, std::string_view word) {
  return std::ranges::equal(text, word, equal_letters);
}
bool begins_ignoring_case(std::string_view text, std::string_view word) {
  return equals_ignoring_case(text.substr(0, word.size()), word);
}

bool has_kind(const pugi::xml_attribute& attribute, GdalItems kind) {
  const std::string_view name = attribute.name(), value = attribute.value();
  switch (kind) {
    case GdalItems::statistics:
      return equals_ignoring_case(name, "name") && begins_ignoring_case(value, "STATISTICS_");
    case GdalItems::places:
      return equals_ignoring_case(name, "domain") &&
             (equals_ignoring_case(value, "GEOLOCATION") || equals_ignoring_case(value, "TILING_SCHEME") ||
              equals_ignoring_case(value, "RPC"));
    case GdalItems::colours:
      return equals_ignoring_case(name, "role") && equals_ignoring_case(value, "colorinterp");
    default:
      return equals_ignoring_case(name, "role") &&
             (equals_ignoring_case(value, "scale") || equals_ignoring_case(value, "offset"));
  }
}

/// Collects the items of a kind and counts the others.
struct ItemCollector final : pugi::xml_tree_walker {
  explicit ItemCollector(GdalItems kind) : kind_(kind) {}

  bool for_each(pugi::xml_node& node) override {
    if (!equals_ignoring_case(node.name(), "Item")) return true;
    const auto matches = [this](const pugi::xml_attribute& attribute) { return has_kind(attribute, kind_); };
    if (std::ranges::any_of(node.attributes(), matches))
      items.push_back(node);
    else
      ++other_count;
    return true;
  }

  std::vector<pugi::xml_node> items;
  std::size_t other_count = 0;

 private:
  GdalItems kind_;
};

/// Removes an item with the white space after it.
void remove(pugi::xml_node item) {
  pugi::xml_node parent = item.parent();
  const pugi::xml_node next = item.next_sibling();
  const std::string_view text = next.value();
  if (next.type() == pugi::node_pcdata && text.find_first_not_of(" \t\r\n") == text.npos)
    parent.remove_child(next);
  parent.remove_child(item);
}

}  // namespace

GdalItemRemoval remove_items(const std::string& xml, GdalItems kind) {
  GdalItemRemoval removal;
  pugi::xml_document document;
  removal.problem = parse_xml(xml, pugi::parse_full | pugi::parse_ws_pcdata, document);
  if (!removal.problem.empty()) return removal;
  ItemCollector collector(kind);
  document.traverse(collector);
  removal.found_any = !collector.items.empty();
  if (!removal.found_any || collector.other_count == 0) return removal;
  // Nested items are removed before their parents.
  for (auto item = collector.items.rbegin(); item != collector.items.rend(); ++item) remove(*item);
  removal.xml = xml_text(document);
  return removal;
}

std::map<std::int64_t, std::string> band_descriptions(const std::string& xml) {
  pugi::xml_document document;
  if (!parse_xml(xml, pugi::parse_default, document).empty()) return {};
  std::map<std::int64_t, std::string> descriptions;
  for (const pugi::xml_node& item : document.document_element().children("Item")) {
    const auto band = whole_number_of(item.attribute("sample").value());
    if (band && equals_ignoring_case(item.attribute("role").value(), "description"))
      descriptions[*band] = item.text().as_string();
  }
  return descriptions;
}

}  // namespace sepconv
