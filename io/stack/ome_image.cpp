#include "io/stack/ome_image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "core/printable.hpp"
#include "io/gdal_tags.hpp"
#include "io/metadata_text.hpp"
#include "io/nodata.hpp"
#include "io/stack/ngff.hpp"
#include "io/stack/ome.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

struct UnitName {
  std::string_view name, symbol;
  double metres = 0;  ///< 0: not a length
};
/// OME-Zarr's words with OME-XML's symbols.
constexpr UnitName kUnits[] = {{"micrometer", "µm", 1e-6},
                               {"nanometer", "nm", 1e-9},
                               {"millimeter", "mm", 1e-3},
                               {"centimeter", "cm", 0.01},
                               {"decimeter", "dm", 0.1},
                               {"meter", "m", 1},
                               {"kilometer", "km", 1000},
                               {"picometer", "pm", 1e-12},
                               {"femtometer", "fm", 1e-15},
                               {"angstrom", "Å", 1e-10},
                               {"inch", "in", 0.0254},
                               {"foot", "ft", 0.3048},
                               {"yard", "yd", 0.9144},
                               {"mile", "mi", 1609.344},
                               {"parsec", "pc", 3.0856776e16},
                               {"second", "s"},
                               {"millisecond", "ms"},
                               {"microsecond", "µs"},
                               {"nanosecond", "ns"},
                               {"minute", "min"},
                               {"hour", "h"},
                               {"day", "d"}};
/// Other spellings: ImageJ's, and those with the other Unicode letter mu.
constexpr UnitName kUnitSpellings[] = {{"micrometer", "micron"},   {"micrometer", "microns"},
                                       {"micrometer", "um"},       {"micrometer", "\u03bcm"},
                                       {"micrometer", "\\u00B5m"}, {"micrometer", "micrometre"},
                                       {"microsecond", "\u03bcs"}, {"angstrom", "\u212b"},
                                       {"second", "sec"},          {"inch", "inches"}};

void set_size(OmeImage& image, const char* name, double size, const std::string& unit) {
  if (!std::isfinite(size) || size <= 0) return;
  OmeAxis& axis = ome_axis(image, name);
  axis.scale = size;
  axis.unit = unit;
}

OmeImage image_from_resolution(const Resolution& resolution) {
  OmeImage image;
  if (resolution.unit == Resolution::Unit::none) return image;  // only the aspect ratio
  const std::string unit = resolution.unit == Resolution::Unit::inch ? "inch" : "centimeter";
  set_size(image, "y", 1 / resolution.y, unit);
  set_size(image, "x", 1 / resolution.x, unit);
  return image;
}

/// Pixel sizes of GeoTIFF tags whose coordinate system is in metres.
OmeImage image_from_geo_tags(const std::vector<RawTag>& tags) {
  constexpr int kModelType = 1024, kProjected = 1, kLinearUnit = 3076, kMetre = 9001;
  constexpr std::uint16_t kDoubles = 12;
  OmeImage image;
  if (geo_key(tags, kModelType) != kProjected || geo_key(tags, kLinearUnit).value_or(kMetre) != kMetre)
    return image;
  std::array<double, 8> numbers{};
  const auto has = [&](std::uint32_t tag, std::size_t count) {
    const auto found = std::ranges::find(tags, tag, &RawTag::tag);
    const std::size_t bytes = count * sizeof(double);
    if (found == tags.end() || found->type != kDoubles || found->data.size() < bytes) return false;
    std::memcpy(numbers.data(), found->data.data(), bytes);
    return true;
  };
  if (has(kPixelScale, 2)) {
    set_size(image, "y", numbers[1], "meter");
    set_size(image, "x", numbers[0], "meter");
  } else if (has(kTransformation, 8)) {  // two rows of four; the first two columns are the sides of a pixel
    set_size(image, "y", std::hypot(numbers[1], numbers[5]), "meter");
    set_size(image, "x", std::hypot(numbers[0], numbers[4]), "meter");
  }
  return image;
}

/// Pixel sizes from Aperio's description, GeoTIFF tags or the resolution.
OmeImage image_from_tags(const Metadata& metadata) {
  if (const auto mpp = slide_mpp(metadata.description)) {
    OmeImage image;
    set_size(image, "y", *mpp, "micrometer");
    set_size(image, "x", *mpp, "micrometer");
    return image;
  }
  if (OmeImage image = image_from_geo_tags(metadata.geo_tags); !image.axes.empty()) return image;
  return metadata.resolution ? image_from_resolution(*metadata.resolution) : OmeImage{};
}

OmeImage image_from_xml_node(const pugi::xml_node& node) {
  OmeImage image;
  const pugi::xml_node pixels = ome_child(node, "Pixels");
  image.name = node.attribute("Name").as_string();
  for (const char axis : {'X', 'Y', 'Z'}) {
    const std::string size = fmt::format("PhysicalSize{}", axis);
    const std::string unit = pixels.attribute((size + "Unit").c_str()).as_string("µm");
    const char name[] = {static_cast<char>(axis - 'A' + 'a'), '\0'};
    set_size(image, name, size_number_of(pixels.attribute(size.c_str()).value()).value_or(0), ome_unit(unit));
  }
  set_size(image, "t", size_number_of(pixels.attribute("TimeIncrement").value()).value_or(0),
           ome_unit(pixels.attribute("TimeIncrementUnit").as_string("s")));
  bool has_metadata = false;
  for (const pugi::xml_node& channel : ome_children(pixels, "Channel")) {
    OmeChannel& parsed = image.channels.emplace_back(OmeChannel{channel.attribute("Name").as_string()});
    parsed.rgb = ome_colour(channel);
    has_metadata = has_metadata || !parsed.name.empty() || parsed.rgb;
  }
  if (!has_metadata) image.channels.clear();
  return image;
}

/// Whether metadata of the other images in OME-XML differ from those of the first.
bool images_differ(const std::string& xml) {
  pugi::xml_document document;
  if (!parse_ome(xml, document).empty()) return false;
  std::optional<OmeImage> first;
  for (const pugi::xml_node& image : ome_children(document.document_element(), "Image")) {
    OmeImage parsed = image_from_xml_node(image);
    if (first && parsed != *first) return true;
    if (!first) first = std::move(parsed);
  }
  return false;
}

}  // namespace

std::string ome_axis_type(std::string_view name) {
  if (name == "x" || name == "y" || name == "z") return "space";
  return name == "t" ? "time" : name == "c" ? "channel" : "";
}

std::vector<std::string> axis_names(const OmeImage& image) {
  std::vector<std::string> names;
  for (const OmeAxis& axis : image.axes) names.push_back(axis.name);
  return names;
}

OmeAxis& ome_axis(OmeImage& image, std::string_view name) {
  const auto found = std::ranges::find(image.axes, name, &OmeAxis::name);
  if (found != image.axes.end()) return *found;
  return image.axes.emplace_back(OmeAxis{std::string(name), ome_axis_type(name), {}});
}

std::string ome_unit(std::string_view text) {
  for (const auto& [name, symbol, metres] : kUnits)
    if (text == name || text == symbol) return std::string(name);
  for (const auto& [name, symbol, metres] : kUnitSpellings)
    if (text == symbol) return std::string(name);
  return "";
}

std::string ome_symbol(std::string_view unit) {
  const auto* const found = std::ranges::find(kUnits, unit, &UnitName::name);
  return found == std::end(kUnits) ? "" : std::string(found->symbol);
}

double ome_metres(std::string_view unit) {
  const auto* const found = std::ranges::find(kUnits, unit, &UnitName::name);
  return found == std::end(kUnits) ? 0 : found->metres;
}

std::optional<Resolution> resolution_of(const Metadata& metadata) {
  if (!is_stack_description(metadata.description)) return metadata.resolution;
  std::vector<std::string> lost;
  const OmeImage image = ome_image_of(metadata, lost);
  const auto per_centimetre = [&](std::string_view name) {
    const auto axis = std::ranges::find(image.axes, name, &OmeAxis::name);
    return axis == image.axes.end() ? 0 : 0.01 / (axis->scale * ome_metres(axis->unit));
  };
  const double x = per_centimetre("x"), y = per_centimetre("y");
  if (!(x > 0 && y > 0) || !std::isfinite(x) || !std::isfinite(y)) return metadata.resolution;
  const auto& stored = metadata.resolution;
  if (stored && stored->unit == Resolution::Unit::inch && std::abs(stored->x / 2.54 / x - 1) < 1e-6 &&
      std::abs(stored->y / 2.54 / y - 1) < 1e-6)
    return stored;
  return Resolution{x, y, Resolution::Unit::centimetre};
}

std::string list_description_contents(const Metadata& metadata) {
  if (!is_stack_description(metadata.description)) return "description";
  std::vector<std::string> lost;
  const OmeImage image = ome_image_of(metadata, lost);
  std::string facts;
  const auto add = [&](std::string_view fact) {
    facts += fmt::format("{}{}", facts.empty() ? "" : ", ", fact);
  };
  const auto has = [&](std::string_view name) {
    const auto axis = std::ranges::find(image.axes, name, &OmeAxis::name);
    return axis != image.axes.end() && (!axis->unit.empty() || axis->scale != 1);
  };
  if (has("x") || has("y")) add("sizes of pixels");
  if (has("z")) add("distance of planes");
  if (has("t")) add("time step");
  if (std::ranges::any_of(image.channels, [](const OmeChannel& channel) { return !channel.name.empty(); }))
    add("names of channels");
  return facts.empty() ? "description" : fmt::format("description ({})", facts);
}

OmeImage ome_image_of(const Metadata& metadata, std::vector<std::string>& lost) {
  const std::string& description = metadata.description;
  if (is_ngff(description)) return parse_ngff_text(description);
  if (is_ome(description)) {
    bool has_more = false;
    OmeImage image = ome_image_of_xml(description, has_more);
    if (images_differ(description))
      lost.push_back(fmt::format(
          "names of the images (series), and sizes of pixels and channels where those differ, are the first "
          "one's{}: OME-Zarr says them of all; OpenOptions::select s=1 takes the second alone",
          image.name.empty() ? "" : fmt::format(" (\"{}\")", printable(image.name))));
    if (has_more)
      lost.emplace_back(
          "of the OME-XML are kept the image's name, sizes of pixels, and names and colours of channels: "
          "OME-Zarr cannot store the rest");
    return image;
  }
  if (is_imagej(description)) {
    if (imagej_has_more(description))
      lost.emplace_back(
          "of ImageJ's description are kept sizes of pixels, the distance of planes and the time step");
    return ome_image_of_imagej(description, metadata.resolution);
  }
  OmeImage image;
  if (is_shaped(description)) {
    if (shaped_has_more(description))
      lost.emplace_back(
          "of the description (JSON with a shape) are kept axes, sizes of pixels, steps and names of "
          "channels");
    image = ome_image_of_shaped(description);
  }
  const OmeImage tag_image = image_from_tags(metadata);
  for (const OmeAxis& axis : tag_image.axes)
    if (std::ranges::find(image.axes, axis.name, &OmeAxis::name) == image.axes.end())
      image.axes.push_back(axis);
  return image;
}

bool is_unreadable_size(std::string_view text) { return !text.empty() && !size_number_of(text); }

std::vector<std::string> unreadable_numbers(const std::string& description) {
  constexpr std::size_t kMaxSentences = 8;
  std::vector<std::string> sentences;
  const auto add = [&](std::string_view name, const std::string& text, std::string_view kind) {
    std::string sentence =
        fmt::format("{} in its description is left out: '{}' is no {}", name, shortened(text), kind);
    if (sentences.size() < kMaxSentences && std::ranges::find(sentences, sentence) == sentences.end())
      sentences.push_back(std::move(sentence));
  };
  const auto check_size = [&](std::string_view name, const std::string& text) {
    if (is_unreadable_size(text)) add(name, text, "finite number from 0 on");
  };
  if (is_imagej(description)) {
    for (const char* const key : kImagejSizes) check_size(key, std::string(imagej_value(description, key)));
  }
  pugi::xml_document document;
  if (!is_ome(description) || !parse_ome(description, document).empty()) return sentences;
  for (const pugi::xml_node& image : ome_children(document.document_element(), "Image")) {
    const pugi::xml_node pixels = ome_child(image, "Pixels");
    for (const char* const name : kOmeSizes) check_size(name, pixels.attribute(name).value());
    for (const pugi::xml_node& channel : ome_children(pixels, "Channel"))
      if (channel.attribute("Color") && !ome_colour(channel))
        add("Color", channel.attribute("Color").value(), "whole number of 32 bits");
  }
  return sentences;
}

OmeImage ome_image_of_xml(const std::string& xml, bool& has_more) {
  pugi::xml_document document;
  if (!parse_ome(xml, document).empty()) return {};
  const pugi::xml_node root = document.document_element();
  const pugi::xml_node first = ome_child(root, "Image");
  const auto is_other_element = [](const pugi::xml_node& node) {
    return node.type() == pugi::node_element && !has_ome_name(node, "Pixels") && !has_ome_name(node, "Image");
  };
  has_more = root.find_child(is_other_element) || first.find_child(is_other_element) ||
             ome_child(ome_child(first, "Pixels"), "Plane");
  return image_from_xml_node(first);
}

OmeImage ome_image_of_imagej(const std::string& text, const std::optional<Resolution>& resolution) {
  const auto size = [&](const char* key) { return size_number_of(imagej_value(text, key)).value_or(0); };
  const auto unit = [&](const char* key, const std::string& default_unit) {
    const std::string_view value = imagej_value(text, key);
    return value.empty() ? default_unit : ome_unit(value);
  };
  OmeImage image;
  const std::string x_unit = unit("unit", "");
  if (resolution && !x_unit.empty()) {
    set_size(image, "y", 1 / resolution->y, unit("yunit", x_unit));
    set_size(image, "x", 1 / resolution->x, x_unit);
  } else if (resolution) {
    image = image_from_resolution(*resolution);
  }
  if (!x_unit.empty()) set_size(image, "z", size("spacing"), unit("zunit", x_unit));
  set_size(image, "t", size("finterval"), unit("tunit", "second"));
  return image;
}

}  // namespace sepconv
