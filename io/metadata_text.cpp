#include "io/metadata_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "io/gdal_metadata.hpp"
#include "io/gdal_tags.hpp"
#include "io/georeferencing.hpp"
#include "io/join_names.hpp"

namespace sepconv {
namespace {

std::string resolution_text(const Resolution& resolution) {
  constexpr const char* kUnits[] = {"", "", " per inch", " per centimetre"};
  return fmt::format("{} x {}{}", resolution.x, resolution.y, kUnits[static_cast<int>(resolution.unit)]);
}

/// At most 72 bytes, cut between characters.
std::string shortened(std::string text) {
  constexpr std::size_t kLength = 72;
  if (text.size() <= kLength) return text;
  std::size_t end = kLength;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

/// Adds a line such as "0.25 x 0.25 x 1 micrometer (x, y, z)" for the spatial axes that have a size.
void add_pixel_size(Facts& facts, const OmeImage& image) {
  std::string sizes, names;
  std::string unit;
  bool has_one_unit = true;
  for (const char* name : {"x", "y", "z"}) {
    const auto axis = std::ranges::find(image.axes, name, &OmeAxis::name);
    if (axis == image.axes.end() || (axis->scale == 1 && axis->unit.empty())) continue;
    has_one_unit = has_one_unit && (names.empty() || axis->unit == unit);
    unit = axis->unit;
    sizes += fmt::format("{}{}{}", names.empty() ? "" : " x ", axis->scale,
                         axis->unit.empty() ? "" : " " + axis->unit);
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
  }
  if (names.empty()) return;
  if (has_one_unit && !unit.empty()) {  // writes a common unit only once, at the end
    for (std::size_t at = 0; (at = sizes.find(" " + unit + " x ", at)) != sizes.npos;)
      sizes.erase(at, unit.size() + 1);
  }
  facts.emplace_back("pixel size", fmt::format("{} ({})", sizes, names));
}

void add_georeference(Facts& facts, const Metadata& metadata) {
  const auto t = geotransform(metadata.geo_tags);
  if (t) {
    const auto& [x, col_x, row_x, y, col_y, row_y] = *t;
    const bool is_rotated = row_x != 0 || col_y != 0;
    facts.emplace_back("pixel size", fmt::format("{} x {}{}", std::hypot(col_x, col_y),
                                                 std::hypot(row_x, row_y), is_rotated ? ", rotated" : ""));
    facts.emplace_back("origin", fmt::format("{}, {}", x, y));
  }
  if (const auto epsg = epsg_code(metadata))
    facts.emplace_back("coordinate system", fmt::format("EPSG:{}", *epsg));
  const auto tag = std::ranges::find(metadata.geo_tags, kGdalMetadata, &RawTag::tag);
  if (tag == metadata.geo_tags.end()) return;
  const std::string xml(reinterpret_cast<const char*>(tag->data.data()), tag->data.size());
  std::vector<std::string> bands = band_descriptions(xml.substr(0, xml.find('\0')));
  if (!bands.empty()) facts.emplace_back("band names", join_names(std::move(bands)));
}

}  // namespace

void add_image_facts(Facts& facts, const OmeImage& image) {
  add_pixel_size(facts, image);
  for (const OmeAxis& axis : image.axes) {
    const bool is_spatial = axis.name == "x" || axis.name == "y" || axis.name == "z";
    const std::string unit = axis.unit.empty() ? "" : " " + axis.unit;
    if (!is_spatial && (axis.scale != 1 || !unit.empty()))
      facts.emplace_back("axis " + axis.name, fmt::format("steps of {}{}", axis.scale, unit));
    if (axis.translation != 0)
      facts.emplace_back("origin of " + axis.name, fmt::format("{}{}", axis.translation, unit));
  }
  std::vector<std::string> names;
  for (const OmeChannel& channel : image.channels)
    names.push_back(channel.rgb ? fmt::format("{} (#{:06X})", channel.name, *channel.rgb) : channel.name);
  if (!names.empty()) facts.emplace_back("channel names", join_names(std::move(names)));
}

std::optional<int> geo_key(const std::vector<RawTag>& tags, int key_id) {
  constexpr std::uint32_t kKeyDirectory = 34735;  // quadruples of key, location, count and value
  constexpr std::uint16_t kShorts = 3;
  constexpr std::size_t kShort = 2;
  const auto keys = std::ranges::find(tags, kKeyDirectory, &RawTag::tag);
  if (keys == tags.end() || keys->type != kShorts) return std::nullopt;
  const auto number = [&](std::size_t i) {
    std::uint16_t value = 0;
    std::memcpy(&value, keys->data.data() + kShort * i, kShort);
    return static_cast<int>(value);
  };
  for (std::size_t i = 4; kShort * (i + 4) <= keys->data.size(); i += 4) {
    if (number(i) == key_id && number(i + 1) == 0 && number(i + 2) == 1) return number(i + 3);
  }
  return std::nullopt;
}

std::optional<int> epsg_code(const Metadata& metadata) {
  constexpr int kUserDefined = 32767;
  for (const int key : {3072, 2048}) {  // ProjectedCSType, GeographicType
    if (const auto code = geo_key(metadata.geo_tags, key); code && *code > 0 && *code < kUserDefined)
      return code;
  }
  return std::nullopt;
}

void add_metadata(Facts& facts, const Metadata& metadata) {
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) facts.emplace_back(name, shortened(text));
  };
  if (metadata.resolution) facts.emplace_back("resolution", resolution_text(*metadata.resolution));
  if (metadata.orientation != 1) {
    facts.emplace_back("orientation", fmt::format("{} (kept, not applied)", metadata.orientation));
  }
  if (!metadata.icc_profile.empty())
    facts.emplace_back("ICC profile", fmt::format("{} bytes", metadata.icc_profile.size()));
  add_georeference(facts, metadata);
  if (!geotransform(metadata.geo_tags) && !metadata.description.empty()) {
    std::vector<std::string> ignored;
    add_image_facts(facts, ome_image_of(metadata, ignored));
  }
  add("description", metadata.description);
  add("software", metadata.software);
  add("date", metadata.date_time);
  add("artist", metadata.artist);
  add("copyright", metadata.copyright);
  std::string tags;
  for (const RawTag& raw : metadata.geo_tags) tags += fmt::format("{}{}", tags.empty() ? "" : " ", raw.tag);
  if (const auto nodata = nodata_value(metadata)) add("nodata value", *nodata);
  if (!tags.empty()) facts.emplace_back("geo tags", tags);
}

}  // namespace sepconv
