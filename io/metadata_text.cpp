#include "io/metadata_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>

#include "core/printable.hpp"
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

std::string with_unit(double value, const std::string& unit) {
  return fmt::format("{}{}{}", value, unit.empty() ? "" : " ", unit);
}

bool is_spatial(const OmeAxis& axis) { return axis.name == "x" || axis.name == "y" || axis.name == "z"; }

/// Adds a line such as "0.25 x 0.25 x 1 micrometer (x, y, z)" for the spatial axes that have a size.
void add_pixel_size(Facts& facts, const OmeImage& image) {
  std::vector<OmeAxis> axes;
  std::ranges::copy_if(image.axes, std::back_inserter(axes), [](const OmeAxis& axis) {
    return is_spatial(axis) && (axis.scale != 1 || !axis.unit.empty());
  });
  if (axes.empty()) return;
  std::ranges::sort(axes, {}, &OmeAxis::name);
  const bool share_unit =
      std::ranges::all_of(axes, [&](const OmeAxis& axis) { return axis.unit == axes.front().unit; });
  std::vector<std::string> sizes, names;
  for (const OmeAxis& axis : axes) {
    const bool shows_unit = !share_unit || &axis == &axes.back();
    sizes.push_back(with_unit(axis.scale, shows_unit ? axis.unit : ""));
    names.push_back(axis.name);
  }
  facts.emplace_back("pixel size", fmt::format("{} ({})", fmt::join(sizes, " x "), fmt::join(names, ", ")));
}

/// Whether the tags state a geotransform; adds it.
bool add_geotransform(Facts& facts, const Metadata& metadata) {
  const auto t = geotransform(metadata.geo_tags);
  if (!t) return false;
  const auto& [x, col_x, row_x, y, col_y, row_y] = *t;
  // Like GeoTIFF's scale, a size is negative if columns go west or rows go north.
  facts.emplace_back("pixel size", row_x == 0 && col_y == 0
                                       ? fmt::format("{} x {}", col_x, 0 - row_y)
                                       : fmt::format("{} x {}, rotated", std::hypot(col_x, col_y),
                                                     std::hypot(row_x, row_y)));
  facts.emplace_back("origin", fmt::format("{}, {}", x, y));
  return true;
}

void add_band_names(Facts& facts, const Metadata& metadata) {
  const auto tag = std::ranges::find(metadata.geo_tags, kGdalMetadata, &RawTag::tag);
  if (tag == metadata.geo_tags.end()) return;
  const std::string xml(reinterpret_cast<const char*>(tag->data.data()), tag->data.size());
  const auto descriptions = band_descriptions(xml.substr(0, xml.find('\0')));
  if (descriptions.empty()) return;
  const bool has_gaps = descriptions.rbegin()->first != std::ssize(descriptions) - 1;
  std::vector<std::string> names;
  for (const auto& [band, name] : descriptions)
    names.push_back(has_gaps ? fmt::format("{} (band {})", name, band + 1) : name);
  facts.emplace_back("band names", join_names(std::move(names)));
}

}  // namespace

void add_image_facts(Facts& facts, const OmeImage& image) {
  add_pixel_size(facts, image);
  for (const OmeAxis& axis : image.axes) {
    if (!is_spatial(axis) && (axis.scale != 1 || !axis.unit.empty()))
      facts.emplace_back("axis " + axis.name, "steps of " + with_unit(axis.scale, axis.unit));
    if (axis.translation != 0)
      facts.emplace_back("origin of " + axis.name, with_unit(axis.translation, axis.unit));
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

bool is_pixel_point(const std::vector<RawTag>& tags) {
  constexpr int kRasterType = 1025, kPixelIsPoint = 2;
  return geo_key(tags, kRasterType) == kPixelIsPoint;
}

std::optional<int> epsg_code(const Metadata& metadata) {
  constexpr int kModelType = 1024, kGeographic = 2, kGeographicType = 2048, kProjectedType = 3072;
  constexpr int kMinCode = 1024, kUserDefined = 32767;
  std::array keys{kProjectedType, kGeographicType};
  if (geo_key(metadata.geo_tags, kModelType) == kGeographic) std::ranges::reverse(keys);
  for (const int key : keys) {
    if (const auto code = geo_key(metadata.geo_tags, key); code && *code >= kMinCode && *code < kUserDefined)
      return code;
  }
  return std::nullopt;
}

void add_metadata(Facts& facts, const Metadata& metadata) {
  constexpr std::size_t kMaxTextBytes = 72;
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) facts.emplace_back(name, shortened(text, kMaxTextBytes));
  };
  if (metadata.resolution) facts.emplace_back("resolution", resolution_text(*metadata.resolution));
  if (metadata.orientation != 1) {
    facts.emplace_back("orientation", fmt::format("{} (kept, not applied)", metadata.orientation));
  }
  if (!metadata.icc_profile.empty())
    facts.emplace_back("ICC profile", fmt::format("{} bytes", metadata.icc_profile.size()));
  if (!add_geotransform(facts, metadata) && !metadata.description.empty()) {
    std::vector<std::string> ignored;
    add_image_facts(facts, ome_image_of(metadata, ignored));
  }
  if (const auto epsg = epsg_code(metadata))
    facts.emplace_back("coordinate system", fmt::format("EPSG:{}", *epsg));
  add_band_names(facts, metadata);
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
