#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "io/gdal_tags.hpp"
#include "io/join_names.hpp"
#include "io/metadata.hpp"
#include "io/nodata.hpp"
#include "io/stack/imagej_items.hpp"
#include "io/stack/stack.hpp"

namespace sepconv {

std::string dropped_metadata_warning(const Metadata& metadata, unsigned stored_kinds,
                                     std::string_view format) {
  std::vector<std::string_view> names;
  const auto check = [&](MetadataKind kind, bool exists, std::string_view name) {
    if (exists && (stored_kinds & static_cast<unsigned>(kind)) == 0) names.push_back(name);
  };
  using enum MetadataKind;
  check(resolution, metadata.resolution.has_value(), "resolution");
  check(orientation, metadata.orientation != 1, "orientation");
  check(icc_profile, !metadata.icc_profile.empty(), "ICC profile");
  const std::string described = list_description_contents(metadata);
  check(is_stack_description(metadata.description) ? stack : texts, !metadata.description.empty(), described);
  check(texts, !metadata.software.empty(), "software");
  check(texts, !metadata.date_time.empty(), "date");
  check(texts, !metadata.artist.empty(), "artist");
  check(texts, !metadata.copyright.empty(), "copyright");
  check(exif, !metadata.exif.empty(), "EXIF");
  check(xmp, !metadata.xmp.empty(), "XMP");
  check(iptc, !metadata.iptc.empty(), "IPTC");
  const std::vector<std::string> members =
      metadata.attributes.empty() ? std::vector<std::string>{} : member_names(metadata.attributes);
  const std::string all_members = fmt::format("attributes ({})", join_names(members));
  check(attributes, !members.empty(), all_members);
  const std::optional<std::string> value = nodata_value(metadata);
  const bool nodata = value.has_value();
  // A nodata value of NaN needs no warning: every reader treats NaN as missing.
  check(geo_tags, nodata && !std::isnan(number_of(*value).value_or(0)), "nodata value");
  const bool has_gdal =
      std::ranges::find(metadata.geo_tags, kGdalMetadata, &RawTag::tag) != metadata.geo_tags.end();
  check(geo_tags, has_gdal, "GDAL's metadata");
  const bool only_georeference = std::ranges::none_of(metadata.geo_tags, [](const RawTag& raw) {
    return raw.tag != kGdalNodata && raw.tag != kGdalMetadata && raw.tag != kPixelScale &&
           raw.tag != kTiepoints && raw.tag != kTransformation;
  });
  check(geo_tags, std::ssize(metadata.geo_tags) > (nodata ? 1 : 0) + (has_gdal ? 1 : 0),
        only_georeference ? "georeference" : "GeoTIFF tags");
  const bool has_extra_meaning = std::ranges::any_of(
      metadata.extra_samples, [](std::uint16_t meaning_code) { return meaning_code != 0; });
  check(alpha, has_extra_meaning, "meaning of further channels (alpha)");
  const std::string meaning =
      fmt::format("\"{}\"", meaning_of(metadata.photometric.value_or(Photometric::min_is_black)));
  check(photometric, meaning != "\"\"", meaning);
  check(MetadataKind::colours, metadata.colours && !is_plain(*metadata.colours), "colour table");
  const std::string items = fmt::format("ImageJ's {}", names_of(metadata.imagej_items));
  check(imagej_items, !metadata.imagej_items.empty(), items);
  if (names.empty()) return {};
  const bool is_singular = names.size() == 1 && !names.front().ends_with("tags") &&
                           !names.front().ends_with("metadata") && names.front() != items &&
                           names.front() != all_members;
  return fmt::format("{} of the source {} not kept: {} cannot store {}", fmt::join(names, ", "),
                     is_singular ? "is" : "are", format, is_singular ? "it" : "them");
}

}  // namespace sepconv
