// Creates OME-XML.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "io/stack/ome.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

using pugi::xml_node;

void set_channel(xml_node channel, const OmeChannel& known) {
  if (!known.name.empty()) set_attribute(channel, "Name", known.name.c_str());
  if (known.rgb)  // red, green, blue, alpha
    set_attribute(channel, "Color", static_cast<int>(*known.rgb << 8 | 0xff));
}

/// Sets sizes with a unit that OME-XML supports. Sizes without a unit are left out: they would be
/// micrometres.
void set_known_sizes(xml_node pixels, const OmeImage& known) {
  constexpr std::pair<std::string_view, const char*> kNames[] = {
      {"x", "PhysicalSizeX"}, {"y", "PhysicalSizeY"}, {"z", "PhysicalSizeZ"}, {"t", "TimeIncrement"}};
  for (const auto& [axis, name] : kNames) {
    const auto found = std::ranges::find(known.axes, axis, &OmeAxis::name);
    if (found == known.axes.end() || ome_symbol(found->unit).empty() || found->scale <= 0) continue;
    // Sizes from a resolution, in inches or centimetres, are converted to micrometres, which readers expect.
    const bool is_resolution = found->unit == "inch" || found->unit == "centimeter";
    const double scale =
        is_resolution ? found->scale * (ome_metres(found->unit) / ome_metres("micrometer")) : found->scale;
    set_attribute(pixels, name, fmt::format("{}", scale).c_str());
    set_attribute(pixels, (std::string(name) + "Unit").c_str(),
                  ome_symbol(is_resolution ? "micrometer" : found->unit).c_str());
  }
}

}  // namespace

std::int64_t ome_size(const RasterAxes& axes, const char* name) {
  const RasterAxis* const axis = find_axis(axes, name);
  return axis == nullptr ? 1 : axis->size;
}

std::string create_ome_xml(const SampleSpec& spec, const RasterAxes& axes, const OmeImage& known) {
  pugi::xml_document document;
  xml_node declaration = document.append_child(pugi::node_declaration);
  set_attribute(declaration, "version", "1.0");
  set_attribute(declaration, "encoding", "UTF-8");
  xml_node root = document.append_child("OME");
  set_attribute(root, "xmlns", "http://www.openmicroscopy.org/Schemas/OME/2016-06");
  set_attribute(root, "xmlns:xsi", "http://www.w3.org/2001/XMLSchema-instance");
  set_attribute(root, "xsi:schemaLocation",
                "http://www.openmicroscopy.org/Schemas/OME/2016-06 "
                "http://www.openmicroscopy.org/Schemas/OME/2016-06/ome.xsd");
  set_attribute(root, "Creator", "sepconv");
  xml_node image = root.append_child("Image");
  set_attribute(image, "ID", "Image:0");
  if (!known.name.empty()) set_attribute(image, "Name", known.name.c_str());
  xml_node pixels = image.append_child("Pixels");
  set_attribute(pixels, "ID", "Pixels:0");
  std::string order = "XY";
  for (std::size_t i = axes.size(); i-- > 0;) order += static_cast<char>(std::toupper(axes[i].name[0]));
  for (const char axis : {'C', 'Z', 'T'}) {
    if (order.find(axis) == order.npos) order += axis;
  }
  set_attribute(pixels, "DimensionOrder", order.c_str());
  for (std::int64_t i = 0; i < ome_size(axes, "c"); ++i) {
    xml_node channel = pixels.append_child("Channel");
    set_attribute(channel, "ID", fmt::format("Channel:0:{}", i).c_str());
    set_attribute(channel, "SamplesPerPixel", static_cast<long long>(spec.channels));
    if (std::ssize(known.channels) == ome_size(axes, "c"))
      set_channel(channel, known.channels[static_cast<std::size_t>(i)]);
  }
  set_known_sizes(pixels, known);
  RasterAxes result_axes = axes;
  for (RasterAxis& axis : result_axes) axis.first = 0;
  set_ome_pixels(pixels, result_axes, {.from = spec, .to = spec}, 0);
  return xml_text(document);
}

}  // namespace sepconv
