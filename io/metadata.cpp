#include "io/metadata.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <utility>

#include "io/extra_samples.hpp"
#include "io/gdal_metadata.hpp"
#include "io/gdal_tags.hpp"
#include "io/georeferencing.hpp"
#include "io/stack/imagej_items.hpp"
#include "io/stack/ome_image.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {
namespace {

bool is_value_tag(std::uint32_t tag) { return tag == kGdalMetadata || tag == kGdalNodata; }

std::string text_of(const RawTag& tag) {
  const auto* const data = reinterpret_cast<const char*>(tag.data.data());
  return {data, strnlen(data, tag.data.size())};
}

void drop_tag(std::vector<RawTag>& tags, std::uint32_t tag) {
  std::erase_if(tags, [tag](const RawTag& raw) { return raw.tag == tag; });
}

/// Items of GDAL's metadata that are invalid for a result.
struct ItemKind {
  GdalItems kind;
  std::string_view what, names, subject;
};
constexpr ItemKind kStatistics{GdalItems::statistics, "statistics", "STATISTICS_*", "values"};
constexpr ItemKind kPlaces{GdalItems::places, "places", "GEOLOCATION, TILING_SCHEME, RPC", "pixels"};
constexpr ItemKind kColours{GdalItems::colours, "meanings of bands", "COLORINTERP", "values"};

void drop_items(std::vector<RawTag>& tags, const ItemKind& items, std::vector<std::string>& lost) {
  const auto found = std::ranges::find(tags, kGdalMetadata, &RawTag::tag);
  if (found == tags.end()) return;
  const GdalItemRemoval removal = remove_items(text_of(*found), items.kind);
  if (!removal.problem.empty()) {
    lost.push_back(
        fmt::format("GDAL's metadata are left out: their XML {}, so that it is unknown what they state about "
                    "the source's {}",
                    removal.problem, items.subject));
    return drop_tag(tags, kGdalMetadata);
  }
  if (!removal.found_any) return;
  lost.push_back(fmt::format("GDAL's {} ({}) are left out: they are those of the source's {}", items.what,
                             items.names, items.subject));
  if (removal.xml.empty()) return drop_tag(tags, kGdalMetadata);
  const auto bytes = std::as_bytes(std::span(removal.xml.c_str(), removal.xml.size() + 1));
  found->data.assign(bytes.begin(), bytes.end());
  found->count = found->data.size();
}

/// Warns about GDAL's items of the role "scale" or "offset", which readers apply to values.
void warn_of_scale(const std::vector<RawTag>& tags, std::vector<std::string>& lost) {
  const auto found = std::ranges::find(tags, kGdalMetadata, &RawTag::tag);
  if (found == tags.end() || !remove_items(text_of(*found), GdalItems::scales).found_any) return;
  lost.emplace_back(
      "GDAL's scale and offset are for the source's values, and the result's are not means of those: where "
      "they are kept, readers that apply them get wrong values");
}

/// Warns about CF's attributes for packed values, which readers apply to values.
void warn_of_packing(const std::string& attributes, std::vector<std::string>& lost) {
  if (attributes.empty()) return;
  const auto all = nlohmann::json::parse(attributes, nullptr, false);
  if (all.contains("scale_factor") || all.contains("add_offset"))
    lost.emplace_back(
        "the attributes scale_factor and add_offset are for the source's values, and the result's are no "
        "means of those: where they are kept, readers that apply them get wrong values");
}

void note_dropped(bool was_present, std::string_view what, std::string_view why,
                  std::vector<std::string>& lost) {
  if (was_present) lost.push_back(fmt::format("{} left out: {}", what, why));
}

/// The orientation with which the transposed image is displayed as the transposed original.
std::uint16_t transposed_orientation(std::uint16_t orientation) {
  constexpr std::uint16_t kTransposed[] = {1, 4, 3, 2, 5, 8, 7, 6};
  return orientation >= 1 && orientation <= 8 ? kTransposed[orientation - 1] : std::uint16_t{1};
}

constexpr std::string_view kRowsAndColumns = "rows and columns of the result are not the source's";

void transform_resolution(Metadata& metadata, const std::optional<PixelTransform>& map,
                          std::vector<std::string>& lost) {
  if (auto& resolution = metadata.resolution; resolution && map) {
    resolution->x /= map->cols;
    resolution->y /= map->rows;
    if (map->turned) std::swap(resolution->x, resolution->y);
  }
  if (!map)
    note_dropped(std::exchange(metadata.resolution, {}).has_value(), "the resolution is", kRowsAndColumns,
                 lost);
}

/// Updates the metadata about position and size of pixels.
void update_position(Metadata& metadata, const std::optional<PixelTransform>& map,
                     std::vector<std::string>& lost) {
  if (map == PixelTransform{}) return;
  constexpr std::string_view kWhy = kRowsAndColumns;
  transform_resolution(metadata, map, lost);
  if (!map) note_dropped(std::exchange(metadata.orientation, 1) != 1, "the orientation is", kWhy, lost);
  if (map && map->turned) metadata.orientation = transposed_orientation(metadata.orientation);
  if (!map || map->turned || map->scales()) drop_resolution(metadata.exif);
  drop_items(metadata.geo_tags, kPlaces, lost);
  if (map && update_georeference(metadata.geo_tags, *map)) return;
  const auto is_place = [](const RawTag& raw) { return !is_value_tag(raw.tag); };
  note_dropped(std::erase_if(metadata.geo_tags, is_place) > 0, "the GeoTIFF tags are",
               map ? "they cannot be moved to where the result lies" : kWhy, lost);
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

/// Whether a description of unknown kind mentions the size of a pixel.
bool states_sizes(const std::string& description) {
  constexpr std::string_view kWords[] = {
      "mpp",          "micron",        "pixelsize",     "pixel_size",          "pixel size", "physicalsize",
      "pixelspacing", "pixel_spacing", "pixel spacing", "spatial-calibration", "<scn"};
  const std::string text = lower(description);
  return std::ranges::any_of(kWords, [&](std::string_view word) { return text.find(word) != text.npos; });
}

/// Drops the metadata about the meaning of channels.
void drop_meaning(Metadata& metadata, bool to_one_channel, std::vector<std::string>& lost) {
  const auto note_if_present = [&](bool was_present, std::string_view what) {
    note_dropped(was_present, what, "the channels of the result are not the source's", lost);
  };
  note_if_present(!metadata.icc_profile.empty(), "the ICC profile is");
  note_if_present(!metadata.extra_samples.empty(), "which channels are alpha is");
  note_if_present(metadata.colours && !is_plain(*metadata.colours), "the colour table is");
  metadata.colours.reset();
  metadata.icc_profile.clear();
  metadata.extra_samples.clear();
  if (!to_one_channel || metadata.photometric != Photometric::min_is_white) {
    const std::string_view meaning = meaning_of(metadata.photometric.value_or(Photometric::min_is_black));
    note_if_present(!meaning.empty(), fmt::format("\"{}\" is", meaning));
    metadata.photometric.reset();
  }
  note_if_present(
      std::ranges::find(metadata.geo_tags, kGdalMetadata, &RawTag::tag) != metadata.geo_tags.end(),
      "GDAL's metadata are");
  drop_tag(metadata.geo_tags, kGdalMetadata);
}

/// Drops L*a*b*, whose encoding depends on the type.
void drop_lab(Metadata& metadata, std::vector<std::string>& lost) {
  const auto& photometric = metadata.photometric;
  if (photometric != Photometric::cielab && photometric != Photometric::icc_lab &&
      photometric != Photometric::itu_lab)
    return;
  note_dropped(true, fmt::format("\"{}\" is", meaning_of(*photometric)), "the result is of another type",
               lost);
  metadata.photometric.reset();
}

}  // namespace

std::optional<std::string> nodata_value(const Metadata& metadata) {
  const auto found = std::ranges::find(metadata.geo_tags, kGdalNodata, &RawTag::tag);
  if (found == metadata.geo_tags.end()) return std::nullopt;
  return text_of(*found);
}

void set_nodata(Metadata& metadata, const std::optional<std::string>& text) {
  drop_tag(metadata.geo_tags, kGdalNodata);
  if (!text) return;
  const auto bytes = std::as_bytes(std::span(text->c_str(), text->size() + 1));
  constexpr std::uint16_t kAscii = 2;
  metadata.geo_tags.push_back({kGdalNodata, kAscii, bytes.size(), {bytes.begin(), bytes.end()}});
}

namespace {

auto find_alpha(const Metadata& metadata) {
  return std::ranges::find_if(metadata.extra_samples, [](std::uint16_t meaning) {
    return meaning == kAssociatedAlpha || meaning == kUnassociatedAlpha;
  });
}

}  // namespace

bool is_georeferenced(const Metadata& metadata) {
  return std::ranges::any_of(metadata.geo_tags, [](const RawTag& raw) { return !is_value_tag(raw.tag); });
}

bool alpha_is_associated(const Metadata& metadata) {
  const auto alpha = find_alpha(metadata);
  return alpha != metadata.extra_samples.end() && *alpha == kAssociatedAlpha;
}

std::optional<std::int64_t> alpha_channel(const Metadata& metadata, std::int64_t channels,
                                          const std::optional<SampleType>& stored) {
  if (stored && stored->is_complex()) return std::nullopt;
  const std::vector<std::uint16_t>& extra = metadata.extra_samples;
  const auto alpha = find_alpha(metadata);
  const std::int64_t channel = channels - (extra.end() - alpha);
  return alpha == extra.end() || channel < 0 ? std::nullopt : std::optional(channel);
}

namespace {

/// Drops the colour table if the values have another type, or are classes that were filtered.
void drop_colours(Metadata& metadata, const ImageChange& change, std::vector<std::string>& lost) {
  std::optional<ColourTable>& table = metadata.colours;
  if (!table) return;
  const bool is_invalid = change.type || (table->classes && change.values && !change.keeps_values);
  if (!is_invalid) return;
  note_dropped(!is_plain(*table), "the colour table is",
               change.type ? "the result's values are of another type"
                           : "the result's values are not the classes that it is of",
               lost);
  table.reset();
  drop_items(metadata.geo_tags, kColours, lost);
}

}  // namespace

Metadata Metadata::derive_for(const ImageChange& change, std::vector<std::string>& lost) const {
  Metadata result = *this;
  update_position(result, change.map, lost);
  const bool keeps_mask = result.mask_channel && change.keeps_mask;
  if (keeps_mask && change.channels)
    result.extra_samples.pop_back();  // the mask channel is not among the
                                      // dropped channels
  if (change.channels) drop_meaning(result, change.to_one_channel, lost);
  if (keeps_mask && change.channels) result.extra_samples = {kUnassociatedAlpha};
  if (change.channels) result.mask_channel = keeps_mask;
  drop_colours(result, change, lost);
  update_imagej_items(result.imagej_items, axes, change, lost);
  if (change.type) drop_lab(result, lost);
  if (change.values || !change.part.empty()) drop_items(result.geo_tags, kStatistics, lost);
  if (change.values && !change.keeps_range) {
    warn_of_scale(result.geo_tags, lost);
    warn_of_packing(result.attributes, lost);
  }
  if (describes_several_images) {
    lost.emplace_back("the description is left out: it counts other images beside this one");
    result.description.clear();
    result.describes_several_images = false;
  } else if (is_stack_description(description)) {
    result.description = describe_stack(description, axes, change, lost);
  } else if (is_slide(description)) {
    result.description = describe_slide(description, change, lost);
  } else if (change.map && change.map->scales() && states_sizes(description)) {
    lost.emplace_back("the description is left out: it states sizes of pixels, which are the source's");
    result.description.clear();
  }
  if (result.description.empty() &&
      is_stack_description(description)) {  // only the resolution states sizes then
    result.resolution = resolution_of(*this);
    std::vector<std::string> ignored;
    transform_resolution(result, change.map, ignored);
  }
  return result;
}

std::string_view meaning_of(Photometric photometric) noexcept {
  switch (photometric) {
    case Photometric::min_is_white:
      return "0 is white";
    case Photometric::cmyk:
      return "channels are CMYK";
    case Photometric::cielab:
      return "channels are CIE L*a*b*";
    case Photometric::icc_lab:
      return "channels are ICC L*a*b*";
    case Photometric::itu_lab:
      return "channels are ITU L*a*b*";
    case Photometric::other:
      return "values are neither intensities nor colours";
    default:
      return "";
  }
}

}  // namespace sepconv
