// Updates OME-XML for a result: attributes of pixels are set, measurements and regions are removed, the rest
// (instrument, people, channels) is kept.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "io/nodata.hpp"
#include "io/stack/ome.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

using pugi::xml_node;

/// OME-XML's name of a type; empty for types that it does not support.
std::string_view ome_type(SampleType type) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {{"u1", "bit"},
                                                                      {"i8", "int8"},
                                                                      {"i16", "int16"},
                                                                      {"i32", "int32"},
                                                                      {"u8", "uint8"},
                                                                      {"u16", "uint16"},
                                                                      {"u32", "uint32"},
                                                                      {"f32", "float"},
                                                                      {"f64", "double"},
                                                                      {"complex64", "complex"},
                                                                      {"complex128", "double-complex"}};
  const std::string name = name_of(type);
  for (const auto& [type_name, ome_name] : kTypes) {
    if (type_name == name) return ome_name;
  }
  return {};
}

/// Removes all elements of these names below `node`. Returns whether there were any.
bool remove_all(xml_node node, std::initializer_list<std::string_view> names) {
  bool removed = false;
  for (xml_node child = node.first_child(); child;) {
    const xml_node next = child.next_sibling();
    if (std::ranges::any_of(names, [&](std::string_view name) { return has_ome_name(child, name); })) {
      removed = node.remove_child(child) || removed;
    } else {
      removed = remove_all(child, names) || removed;
    }
    child = next;
  }
  return removed;
}

std::int64_t first_of_axis(const RasterAxes& axes, const char* name) {
  const RasterAxis* const axis = find_axis(axes, name);
  return axis == nullptr ? 0 : axis->first;
}

/// `name` with the namespace prefix of the node: children of "OME:Pixels" are "OME:Channel".
std::string with_prefix_of(const xml_node& node, const char* name) {
  const std::string node_name = node.name();
  const std::size_t colon = node_name.find(':');
  return colon == node_name.npos ? name : node_name.substr(0, colon + 1) + name;
}

void scale_attribute(xml_node pixels, const char* name, double factor) {
  pugi::xml_attribute attribute = pixels.attribute(name);
  const std::optional<double> size = size_number_of(attribute.value());
  if (size && factor != 1) attribute.set_value(fmt::format("{}", *size * factor).c_str());
}

/// Removes what unreadable_numbers() lists.
void remove_unreadable_numbers(xml_node pixels) {
  for (const char* const name : kOmeSizes)
    if (is_unreadable_size(pixels.attribute(name).value())) pixels.remove_attribute(name);
  for (xml_node channel : ome_children(pixels, "Channel"))
    if (!ome_colour(channel)) channel.remove_attribute("Color");
}

void swap_attributes(xml_node pixels, const char* first_name, const char* second_name) {
  const std::string first = pixels.attribute(first_name).as_string();
  const std::string second = pixels.attribute(second_name).as_string();
  pixels.remove_attribute(first_name);
  pixels.remove_attribute(second_name);
  if (!second.empty()) set_attribute(pixels, first_name, second.c_str());
  if (!first.empty()) set_attribute(pixels, second_name, first.c_str());
}

/// Updates the pixel size. The source may be a pyramid level, which is smaller than the XML states.
void set_physical_sizes(xml_node pixels, const ImageChange& change) {
  const auto factor = [](std::int64_t stated, std::int64_t actual) {
    return stated > 0 && actual > 0 ? static_cast<double>(stated) / static_cast<double>(actual) : 1;
  };
  const PixelTransform map = change.map.value_or(PixelTransform{});
  const Extent from = change.from.extent;
  scale_attribute(pixels, "PhysicalSizeX",
                  factor(ome_count(pixels.attribute("SizeX")), from.cols) * map.cols);
  scale_attribute(pixels, "PhysicalSizeY",
                  factor(ome_count(pixels.attribute("SizeY")), from.rows) * map.rows);
  if (map.turned) {
    swap_attributes(pixels, "PhysicalSizeX", "PhysicalSizeY");
    swap_attributes(pixels, "PhysicalSizeXUnit", "PhysicalSizeYUnit");
  } else if (!change.map) {
    for (const char* const name :
         {"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeXUnit", "PhysicalSizeYUnit"})
      pixels.remove_attribute(name);
  }
}

/// The number of Channel elements per position: XML may list every sample of a pixel, except one that was
/// converted from a mask. `source_size_c` is SizeC of the source.
std::int64_t listed_samples(std::int64_t listed, const RasterAxes& axes, const ImageChange& change,
                            std::int64_t source_size_c) {
  if (find_axis(axes, "c") == nullptr) return std::max<std::int64_t>(1, listed);
  for (const std::int64_t samples : {change.from.channels, change.from.channels - 1}) {
    if (samples > 1 && listed == source_size_c && ome_size(axes, "c") * samples == source_size_c)
      return samples;
  }
  return 1;
}

void add_channel(xml_node pixels, std::int64_t position, std::int64_t samples) {
  const std::vector<xml_node> channels = ome_children(pixels, "Channel");
  const std::string name = with_prefix_of(pixels, "Channel");
  xml_node channel = channels.empty() ? pixels.prepend_child(name.c_str())
                                      : pixels.insert_child_after(name.c_str(), channels.back());
  set_attribute(channel, "ID", fmt::format("Channel:0:{}", position).c_str());
  set_attribute(channel, "SamplesPerPixel", static_cast<long long>(samples));
}

/// Whether a channel has metadata besides those that follow from the pixels.
bool has_metadata(const xml_node& channel) {
  const auto is_metadata = [](const pugi::xml_attribute& attribute) {
    const std::string_view name = attribute.name();
    return name != "ID" && name != "SamplesPerPixel";
  };
  return channel.first_child() || std::ranges::any_of(channel.attributes(), is_metadata);
}

/// Keeps the channels of the remaining positions, one per position unless every sample is listed. Adds new
/// ones if the samples have changed. `source_size_c` is SizeC of the source. Returns whether metadata of a
/// remaining position were removed.
bool select_channels(xml_node pixels, const RasterAxes& axes, const ImageChange& change,
                     std::int64_t source_size_c) {
  const std::vector<xml_node> channels = ome_children(pixels, "Channel");
  const std::int64_t samples = listed_samples(std::ssize(channels), axes, change, source_size_c);
  const std::int64_t first = first_of_axis(axes, "c"), positions = ome_size(axes, "c");
  const bool lists_all = samples > 1 && samples == change.to.channels && !change.channels;
  std::int64_t kept_channels = 0;
  bool lost_metadata = false;
  for (std::int64_t i = 0; i < std::ssize(channels); ++i) {
    const xml_node channel = channels[static_cast<std::size_t>(i)];
    const std::int64_t position = i / samples;
    const bool is_left = position >= first && position < first + positions;
    const bool stays = is_left && !change.channels && (lists_all || i % samples == 0);
    if (!stays) {
      lost_metadata = lost_metadata || (is_left && has_metadata(channel));
      pixels.remove_child(channel);
      continue;
    }
    ++kept_channels;
    if (!lists_all) set_attribute(channel, "SamplesPerPixel", static_cast<long long>(change.to.channels));
  }
  if (kept_channels == 0 && change.to.channels > 1) {
    for (std::int64_t position = 0; position < positions; ++position)
      add_channel(pixels, position, change.to.channels);
  }
  return lost_metadata;
}

/// Changes the positions of planes to those in the result, and removes planes that are not in it. Returns
/// whether metadata of remaining planes were removed.
bool select_planes(xml_node pixels, const RasterAxes& axes, const ImageChange& change) {
  constexpr std::pair<const char*, const char*> kAxes[] = {{"TheZ", "z"}, {"TheC", "c"}, {"TheT", "t"}};
  bool lost_metadata = false;
  for (xml_node plane : ome_children(pixels, "Plane")) {
    bool is_left = true;
    for (const auto& [name, axis] : kAxes) {
      const long long at = ome_count(plane.attribute(name)) - first_of_axis(axes, axis);
      is_left = is_left && at >= 0 && at < ome_size(axes, axis);
      set_attribute(plane, name, at);
    }
    const bool is_kept = is_left && !change.channels;
    lost_metadata = lost_metadata || (is_left && !is_kept);
    if (!is_kept) pixels.remove_child(plane);
    if (!is_kept || change.map == PixelTransform{}) continue;
    for (const char* const name : {"PositionX", "PositionXUnit", "PositionY", "PositionYUnit"})
      lost_metadata = plane.remove_attribute(name) || lost_metadata;
  }
  return lost_metadata;
}

void add_tiff_data(xml_node pixels, std::int64_t first_page, std::int64_t planes) {
  const std::vector<xml_node> channels = ome_children(pixels, "Channel");
  const std::string name = with_prefix_of(pixels, "TiffData");
  xml_node data = channels.empty() ? pixels.prepend_child(name.c_str())
                                   : pixels.insert_child_after(name.c_str(), channels.back());
  set_attribute(data, "IFD", static_cast<long long>(first_page));
  set_attribute(data, "PlaneCount", static_cast<long long>(planes));
}

}  // namespace

bool set_ome_pixels(xml_node pixels, const RasterAxes& axes, const ImageChange& change,
                    std::int64_t first_page) {
  const SampleSpec result = change.made();
  const std::int64_t z = ome_size(axes, "z");
  const std::int64_t c = ome_size(axes, "c");
  const std::int64_t t = ome_size(axes, "t");
  const std::int64_t source_size_c = ome_count(pixels.attribute("SizeC"));
  remove_unreadable_numbers(pixels);
  set_physical_sizes(pixels, change);
  set_attribute(pixels, "SizeX", static_cast<long long>(result.extent.cols));
  set_attribute(pixels, "SizeY", static_cast<long long>(result.extent.rows));
  set_attribute(pixels, "SizeZ", static_cast<long long>(z));
  set_attribute(pixels, "SizeC", static_cast<long long>(c * result.channels));
  set_attribute(pixels, "SizeT", static_cast<long long>(t));
  set_attribute(pixels, "Type", ome_type(result.type).data());
  for (const char* const name : {"BigEndian", "Interleaved"}) pixels.remove_attribute(name);
  if (change.type || change.values) pixels.remove_attribute("SignificantBits");
  remove_all(pixels, {"TiffData", "BinData", "MetadataOnly"});
  const bool lost_channels = select_channels(pixels, axes, change, source_size_c);
  const bool lost_planes = select_planes(pixels, axes, change);
  add_tiff_data(pixels, first_page, z * c * t);
  return lost_channels || lost_planes;
}

bool ome_supports_type(SampleType type) { return !ome_type(type).empty(); }

std::string describe_ome(const std::string& xml, const RasterAxes& axes, const ImageChange& change,
                         std::vector<std::string>& lost) {
  pugi::xml_document document;
  if (!ome_supports_type(change.to.type)) {
    lost.push_back(
        fmt::format("the description is left out: OME-XML has no type {}", name_of(change.to.type)));
    return "";
  }
  if (!parse_ome(xml, document).empty()) return "";
  const bool has_other_axes = std::ranges::any_of(axes, [](const RasterAxis& axis) {
    return axis.size > 1 && axis.name != "s" && axis.name != "z" && axis.name != "c" && axis.name != "t";
  });
  xml_node root = document.document_element();
  const std::vector<xml_node> images = ome_children(root, "Image");
  if (has_other_axes || images.empty()) return "";
  const xml_node first_pixels = ome_child(images.front(), "Pixels");
  std::vector<xml_node> retained, dropped;
  std::int64_t same_shape_count = 0;
  const std::int64_t first_series = first_of_axis(axes, "s");
  for (const xml_node& image : images) {
    const bool is_selected = has_same_shape(ome_child(image, "Pixels"), first_pixels) &&
                             same_shape_count++ >= first_series && std::ssize(retained) < ome_size(axes, "s");
    (is_selected ? retained : dropped).push_back(image);
  }
  for (const xml_node& image : dropped) root.remove_child(image);
  const std::int64_t planes = ome_size(axes, "z") * ome_size(axes, "c") * ome_size(axes, "t");
  bool lost_metadata = false;
  for (std::size_t i = 0; i < retained.size(); ++i)
    lost_metadata = set_ome_pixels(ome_child(retained[i], "Pixels"), axes, change,
                                   static_cast<std::int64_t>(i) * planes) ||
                    lost_metadata;
  if (lost_metadata)
    lost.emplace_back(
        "what the OME-XML states about channels and planes (names, colours, wavelengths, places) is left out "
        "as far as the result's are not the source's");
  root.remove_attribute("UUID");
  if (remove_all(root, {"ROI", "ROIRef", "StructuredAnnotations", "AnnotationRef", "Project", "Dataset",
                        "DatasetRef", "Folder", "Plate", "Screen"}) ||
      !dropped.empty())
    lost.emplace_back(
        "of the OME-XML are left out: regions, annotations, groups, and images that the result does not have");
  return xml_text(document);
}

}  // namespace sepconv
