// OME-XML that is true of a result: what describes the pixels is set again, what is measured or drawn on them
// is left out, the rest (instrument, people, channels) stays.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "io/stack/ome.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

using pugi::xml_node;

/// Empty for what OME-XML has no word for.
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
  for (const auto& [ours, theirs] : kTypes) {
    if (ours == name) return theirs;
  }
  return {};
}

/// Everything of these names below `node`; whether there was any.
bool remove_all(xml_node node, std::initializer_list<std::string_view> names) {
  bool removed = false;
  for (xml_node child = node.first_child(); child;) {
    const xml_node next = child.next_sibling();
    if (std::ranges::any_of(names, [&](std::string_view name) { return ome_is(child, name); })) {
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

/// A prefix as that of the node: children of "OME:Pixels" are "OME:Channel".
std::string like(const xml_node& node, const char* name) {
  const std::string own = node.name();
  const std::size_t colon = own.find(':');
  return colon == own.npos ? name : own.substr(0, colon + 1) + name;
}

void scale_attribute(xml_node pixels, const char* name, double factor) {
  pugi::xml_attribute size = pixels.attribute(name);
  if (size && factor != 1) size.set_value(fmt::format("{}", size.as_double() * factor).c_str());
}

void swap_attributes(xml_node pixels, const char* one, const char* other) {
  const std::string first = pixels.attribute(one).as_string();
  const std::string second = pixels.attribute(other).as_string();
  pixels.remove_attribute(one);
  pixels.remove_attribute(other);
  if (!second.empty()) set_ome(pixels, one, second.c_str());
  if (!first.empty()) set_ome(pixels, other, first.c_str());
}

/// How large a pixel is. A level of a pyramid has other sides than the XML says.
void set_physical_sizes(xml_node pixels, const ImageChange& change) {
  const auto factor = [](std::int64_t said, std::int64_t read) {
    return said > 0 && read > 0 ? static_cast<double>(said) / static_cast<double>(read) : 1;
  };
  const PixelTransform map = change.map.value_or(PixelTransform{});
  const Extent from = change.from.extent;
  scale_attribute(pixels, "PhysicalSizeX",
                  factor(pixels.attribute("SizeX").as_llong(), from.cols) * map.cols);
  scale_attribute(pixels, "PhysicalSizeY",
                  factor(pixels.attribute("SizeY").as_llong(), from.rows) * map.rows);
  if (map.turned) {
    swap_attributes(pixels, "PhysicalSizeX", "PhysicalSizeY");
    swap_attributes(pixels, "PhysicalSizeXUnit", "PhysicalSizeYUnit");
  } else if (!change.map) {
    for (const char* const name :
         {"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeXUnit", "PhysicalSizeYUnit"})
      pixels.remove_attribute(name);
  }
}

/// How many of the listed channels are one position: all samples of a pixel may be listed, but for one that a
/// mask became. `counted` is SizeC as it was.
std::int64_t listed_samples(std::int64_t listed, const RasterAxes& axes, const ImageChange& change,
                            std::int64_t counted) {
  if (find_axis(axes, "c") == nullptr) return std::max<std::int64_t>(1, listed);
  for (const std::int64_t samples : {change.from.channels, change.from.channels - 1}) {
    if (samples > 1 && listed == counted && ome_size(axes, "c") * samples == counted) return samples;
  }
  return 1;
}

void add_channel(xml_node pixels, std::int64_t position, std::int64_t samples) {
  const std::vector<xml_node> channels = ome_children(pixels, "Channel");
  const std::string name = like(pixels, "Channel");
  xml_node channel = channels.empty() ? pixels.prepend_child(name.c_str())
                                      : pixels.insert_child_after(name.c_str(), channels.back());
  set_ome(channel, "ID", fmt::format("Channel:0:{}", position).c_str());
  set_ome(channel, "SamplesPerPixel", static_cast<long long>(samples));
}

/// Whether more is said of a channel than what follows from the pixels.
bool tells(const xml_node& channel) {
  const auto is_told = [](const pugi::xml_attribute& attribute) {
    const std::string_view name = attribute.name();
    return name != "ID" && name != "SamplesPerPixel";
  };
  return channel.first_child() || std::ranges::any_of(channel.attributes(), is_told);
}

/// Those at the positions that are left, one each unless they list its samples; of other samples they are new
/// ones. `counted` is SizeC as it was. Whether a position that is left lost what was told of it.
bool keep_channels(xml_node pixels, const RasterAxes& axes, const ImageChange& change, std::int64_t counted) {
  const std::vector<xml_node> channels = ome_children(pixels, "Channel");
  const std::int64_t samples = listed_samples(std::ssize(channels), axes, change, counted);
  const std::int64_t first = first_of_axis(axes, "c"), positions = ome_size(axes, "c");
  const bool lists_all = samples > 1 && samples == change.to.channels && !change.channels;
  std::int64_t kept = 0;
  bool fell = false;
  for (std::int64_t i = 0; i < std::ssize(channels); ++i) {
    const xml_node channel = channels[static_cast<std::size_t>(i)];
    const std::int64_t position = i / samples;
    const bool is_left = position >= first && position < first + positions;
    const bool stays = is_left && !change.channels && (lists_all || i % samples == 0);
    if (!stays) {
      fell = fell || (is_left && tells(channel));
      pixels.remove_child(channel);
      continue;
    }
    ++kept;
    if (!lists_all) set_ome(channel, "SamplesPerPixel", static_cast<long long>(change.to.channels));
  }
  if (kept == 0 && change.to.channels > 1) {
    for (std::int64_t position = 0; position < positions; ++position)
      add_channel(pixels, position, change.to.channels);
  }
  return fell;
}

/// Positions of planes become those in the result; those of planes that it has not got go.
/// Whether others did, or their places.
bool keep_planes(xml_node pixels, const RasterAxes& axes, const ImageChange& change) {
  constexpr std::pair<const char*, const char*> kAxes[] = {{"TheZ", "z"}, {"TheC", "c"}, {"TheT", "t"}};
  bool fell = false;
  for (xml_node plane : ome_children(pixels, "Plane")) {
    bool is_left = true;
    for (const auto& [name, axis] : kAxes) {
      const long long at = plane.attribute(name).as_llong(0) - first_of_axis(axes, axis);
      is_left = is_left && at >= 0 && at < ome_size(axes, axis);
      set_ome(plane, name, at);
    }
    const bool kept = is_left && !change.channels;
    fell = fell || (is_left && !kept);
    if (!kept) pixels.remove_child(plane);
    if (!kept || change.map == PixelTransform{}) continue;
    for (const char* const name : {"PositionX", "PositionXUnit", "PositionY", "PositionYUnit"})
      fell = plane.remove_attribute(name) || fell;
  }
  return fell;
}

void place_data(xml_node pixels, std::int64_t first_page, std::int64_t planes) {
  const std::vector<xml_node> channels = ome_children(pixels, "Channel");
  const std::string name = like(pixels, "TiffData");
  xml_node data = channels.empty() ? pixels.prepend_child(name.c_str())
                                   : pixels.insert_child_after(name.c_str(), channels.back());
  set_ome(data, "IFD", static_cast<long long>(first_page));
  set_ome(data, "PlaneCount", static_cast<long long>(planes));
}

}  // namespace

bool set_ome_pixels(xml_node pixels, const RasterAxes& axes, const ImageChange& change,
                    std::int64_t first_page) {
  const SampleSpec made = change.made();
  const std::int64_t z = ome_size(axes, "z");
  const std::int64_t c = ome_size(axes, "c");
  const std::int64_t t = ome_size(axes, "t");
  const std::int64_t counted = pixels.attribute("SizeC").as_llong();
  set_physical_sizes(pixels, change);
  set_ome(pixels, "SizeX", static_cast<long long>(made.extent.cols));
  set_ome(pixels, "SizeY", static_cast<long long>(made.extent.rows));
  set_ome(pixels, "SizeZ", static_cast<long long>(z));
  set_ome(pixels, "SizeC", static_cast<long long>(c * made.channels));
  set_ome(pixels, "SizeT", static_cast<long long>(t));
  set_ome(pixels, "Type", ome_type(made.type).data());
  for (const char* const name : {"BigEndian", "Interleaved"}) pixels.remove_attribute(name);
  if (change.type || change.values) pixels.remove_attribute("SignificantBits");
  remove_all(pixels, {"TiffData", "BinData", "MetadataOnly"});
  const bool channels_fell = keep_channels(pixels, axes, change, counted);
  const bool planes_fell = keep_planes(pixels, axes, change);
  place_data(pixels, first_page, z * c * t);
  return channels_fell || planes_fell;
}

bool ome_holds(SampleType type) { return !ome_type(type).empty(); }

std::string describe_ome(const std::string& xml, const RasterAxes& axes, const ImageChange& change,
                         std::vector<std::string>& lost) {
  pugi::xml_document document;
  if (!ome_holds(change.to.type)) {
    lost.push_back(
        fmt::format("the description is left out: OME-XML has no type {}", name_of(change.to.type)));
    return "";
  }
  if (!parse_ome(xml, document).empty()) return "";
  const bool counts_otherwise = std::ranges::any_of(axes, [](const RasterAxis& axis) {
    return axis.size > 1 && axis.name != "s" && axis.name != "z" && axis.name != "c" && axis.name != "t";
  });
  xml_node root = document.document_element();
  const std::vector<xml_node> images = ome_children(root, "Image");
  if (counts_otherwise || images.empty()) return "";
  const xml_node leader = ome_child(images.front(), "Pixels");
  std::vector<xml_node> kept, dropped;
  std::int64_t like_it = 0;
  const std::int64_t first_series = first_of_axis(axes, "s");
  for (const xml_node& image : images) {
    const bool is_one = is_like(ome_child(image, "Pixels"), leader) && like_it++ >= first_series &&
                        std::ssize(kept) < ome_size(axes, "s");
    (is_one ? kept : dropped).push_back(image);
  }
  for (const xml_node& image : dropped) root.remove_child(image);
  const std::int64_t planes = ome_size(axes, "z") * ome_size(axes, "c") * ome_size(axes, "t");
  bool fell = false;
  for (std::size_t i = 0; i < kept.size(); ++i)
    fell =
        set_ome_pixels(ome_child(kept[i], "Pixels"), axes, change, static_cast<std::int64_t>(i) * planes) ||
        fell;
  if (fell)
    lost.emplace_back(
        "what the OME-XML tells of channels and planes (names, colours, wavelengths, places) is left out as "
        "far as the result's are not the source's");
  root.remove_attribute("UUID");
  if (remove_all(root, {"ROI", "ROIRef", "StructuredAnnotations", "AnnotationRef", "Project", "Dataset",
                        "DatasetRef", "Folder", "Plate", "Screen"}) ||
      !dropped.empty())
    lost.emplace_back(
        "of the OME-XML are left out: regions, annotations, groups, and images that the result does not have");
  return xml_text(document);
}

}  // namespace sepconv
