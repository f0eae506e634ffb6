// Single images of OME-XML whose images differ in shape, and descriptions for axes that the caller states.
#include <fmt/format.h>

#include <algorithm>

#include "io/stack/ome.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

std::string sizes_text(const pugi::xml_node& pixels) {
  std::string text = fmt::format("{} x {} pixels", ome_count(pixels.attribute("SizeX")),
                                 ome_count(pixels.attribute("SizeY")));
  for (const char* const axis : {"t", "c", "z"}) {
    const std::string name = fmt::format("Size{}", static_cast<char>(*axis - 'a' + 'A'));
    const std::int64_t size = ome_count(pixels.attribute(name.c_str()), 1);
    if (size > 1) text += fmt::format(", {} {}", axis, size);
  }
  return text + fmt::format(", {}", pixels.attribute("Type").as_string());
}

/// The page of the first plane.
std::int64_t first_page_of(const pugi::xml_node& pixels) {
  const auto is_first = [](const pugi::xml_node& data) {
    return std::ranges::all_of(std::initializer_list<const char*>{"FirstZ", "FirstC", "FirstT"},
                               [&](const char* name) { return ome_count(data.attribute(name)) == 0; });
  };
  for (const pugi::xml_node& data : ome_children(pixels, "TiffData"))
    if (is_first(data)) return ome_count(data.attribute("IFD"));
  return 0;
}

/// Whether all axes are t, z or c, at most once each. `in_order`: and in ImageJ's order.
bool are_known_axes(const RasterAxes& axes, bool in_order) {
  constexpr std::string_view kOrder = "tzc";
  std::size_t previous = 0;
  return std::ranges::all_of(axes, [&](const RasterAxis& axis) {
    const std::size_t position = axis.name.size() == 1 ? kOrder.find(axis.name) : kOrder.npos;
    const bool is_valid = position != kOrder.npos && (!in_order || position >= previous);
    previous = position;
    return is_valid;
  });
}

/// Removes the lines about axes other than these.
std::string imagej_with_axes(const std::string& text, const RasterAxes& axes) {
  std::string result;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::string_view key = line.substr(0, line.find('='));
    const bool is_time_key = key == "finterval" || key == "fps" || key == "tunit";
    const bool is_depth_key = key == "spacing" || key == "zunit";
    if ((is_time_key && find_axis(axes, "t") == nullptr) || (is_depth_key && find_axis(axes, "z") == nullptr))
      continue;
    result += fmt::format("{}\n", line);
  }
  return result;
}

/// Creates OME-XML with the metadata of the first image that apply to these axes.
std::string ome_with_axes(const std::string& xml, const SampleSpec& spec, const RasterAxes& axes) {
  bool has_more = false;
  OmeImage image = ome_image_of_xml(xml, has_more);
  std::erase_if(image.axes, [&](const OmeAxis& axis) {
    return axis.name != "x" && axis.name != "y" && find_axis(axes, axis.name) == nullptr;
  });
  if (find_axis(axes, "c") == nullptr) image.channels.clear();
  return create_ome_xml(spec, axes, image);
}

}  // namespace

std::vector<OmeSeries> ome_series(const std::string& xml) {
  std::vector<OmeSeries> series;
  pugi::xml_document document;
  if (!parse_ome(xml, document).empty()) return series;
  for (const pugi::xml_node& image : ome_children(document.document_element(), "Image")) {
    const pugi::xml_node pixels = ome_child(image, "Pixels");
    series.push_back({image.attribute("Name").as_string(), first_page_of(pixels), sizes_text(pixels)});
  }
  return series;
}

std::string extract_ome_series(const std::string& xml, std::int64_t first, std::int64_t last) {
  pugi::xml_document document;
  if (!parse_ome(xml, document).empty()) return "";
  pugi::xml_node root = document.document_element();
  std::int64_t index = 0;
  for (const pugi::xml_node& image : ome_children(root, "Image")) {
    if (index < first || index > last) root.remove_child(image);
    ++index;
  }
  return xml_text(document);
}

std::string with_axes(const std::string& description, const SampleSpec& spec, const RasterAxes& axes) {
  if (is_shaped(description)) return description;  // its axes are set when the result is written
  if (is_imagej(description)) return are_known_axes(axes, true) ? imagej_with_axes(description, axes) : "";
  return is_ome(description) && are_known_axes(axes, false) ? ome_with_axes(description, spec, axes) : "";
}

}  // namespace sepconv
