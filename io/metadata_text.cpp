#include "io/metadata_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

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

}  // namespace

std::optional<int> geo_key(const std::vector<RawTag>& tags, int wanted) {
  constexpr std::uint32_t kKeyDirectory = 34735;  // quadruples of key, place, count and value
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
    if (number(i) == wanted && number(i + 1) == 0 && number(i + 2) == 1) return number(i + 3);
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
