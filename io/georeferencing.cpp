#include "io/georeferencing.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "io/gdal_tags.hpp"
#include "io/metadata_text.hpp"

namespace sepconv {
namespace {

constexpr std::uint16_t kDouble = 12;  // TIFF field type DOUBLE

using Values = std::vector<double>;

RawTag* find_tag(std::vector<RawTag>& tags, std::uint32_t tag) {
  const auto found = std::ranges::find(tags, tag, &RawTag::tag);
  return found == tags.end() ? nullptr : &*found;
}

/// The numbers of a tag; null if its type or length is wrong.
std::optional<Values> values_of(const RawTag& tag) {
  Values values(tag.data.size() / sizeof(double));
  if (tag.type != kDouble || values.size() * sizeof(double) != tag.data.size()) return std::nullopt;
  if (!values.empty()) std::memcpy(values.data(), tag.data.data(), tag.data.size());
  return values;
}

RawTag tag_of(std::uint32_t tag, std::span<const double> values) {
  const auto bytes = std::as_bytes(values);
  return {tag, kDouble, values.size(), {bytes.begin(), bytes.end()}};
}

/// Swaps the numbers of column and row if the result is transposed.
void swap_if_transposed(const PixelTransform& map, double& col, double& row) {
  if (map.turned) std::swap(col, row);
}

/// Maps a position in the source to the result.
void map_to_result(const PixelTransform& map, double& col, double& row) {
  col = (col - map.col) / map.cols;
  row = (row - map.row) / map.rows;
  swap_if_transposed(map, col, row);
}

/// The map for coordinates with the origin at the centre of the first pixel.
PixelTransform for_pixel_centres(PixelTransform map) {
  map.row += (map.rows - 1) / 2;
  map.col += (map.cols - 1) / 2;
  return map;
}

/// OGC GeoTIFF 1.1, sections 7.1 to 7.4.
bool update_scale(Values& values, const PixelTransform& map) {
  if (values.size() != 3) return !map.scales();
  values[0] *= map.cols;
  values[1] *= map.rows;
  return true;
}

bool update_tiepoints(Values& values, const PixelTransform& map) {  // column, row, level, and x, y, z of each
  for (std::size_t i = 0; i + 5 < values.size(); i += 6) map_to_result(map, values[i], values[i + 1]);
  return values.size() % 6 == 0;
}

bool update_transformation(Values& values,
                           const PixelTransform& map) {  // 4 x 4 matrix for (column, row, level, 1)
  if (values.size() != 16) return false;
  for (std::size_t i = 0; i < 12; i += 4) {
    values[i + 3] += values[i] * map.col + values[i + 1] * map.row;
    values[i] *= map.cols;
    values[i + 1] *= map.rows;
    swap_if_transposed(map, values[i], values[i + 1]);
  }
  return true;
}

/// STDI-0002 and GDAL's RPCsInGeoTIFF: two errors; offsets of row, column, and three more; their scales;
/// numerator and denominator of the row, then of the column, of 20 coefficients each.
bool update_rpc(Values& values, const PixelTransform& map) {
  if (values.size() != 92) return false;
  map_to_result(for_pixel_centres(map), values[3], values[2]);
  values[7] /= map.rows;
  values[8] /= map.cols;
  swap_if_transposed(map, values[8], values[7]);
  if (map.turned) std::swap_ranges(values.begin() + 12, values.begin() + 52, values.begin() + 52);
  return true;
}

bool update_tag(std::uint32_t tag, Values& values, const PixelTransform& map, const PixelTransform& raster) {
  if (tag == kPixelScale) return update_scale(values, map);
  if (tag == kTiepoints) return update_tiepoints(values, raster);
  return tag == kTransformation ? update_transformation(values, raster) : update_rpc(values, map);
}

/// Replaces scale and tie point (columns to the east, rows to the south) by the equivalent matrix.
bool replace_scale_by_matrix(std::vector<RawTag>& tags) {
  const RawTag* const scale_tag = find_tag(tags, kPixelScale);
  if (scale_tag == nullptr) return true;
  const RawTag* const tie_tag = find_tag(tags, kTiepoints);
  if (tie_tag == nullptr || find_tag(tags, kTransformation) != nullptr) return false;
  const auto scale = values_of(*scale_tag);
  const auto tie = values_of(*tie_tag);
  if (!scale || !tie || scale->size() != 3 || tie->size() != 6) return false;
  const double x = (*scale)[0];
  const double y = -(*scale)[1];
  const double z = (*scale)[2];
  const Values& t = *tie;
  const std::array<double, 16> matrix{x, 0, 0, t[3] - x * t[0], 0, y, 0, t[4] - y * t[1],
                                      0, 0, z, t[5] - z * t[2], 0, 0, 0, 1};
  std::erase_if(tags, [](const RawTag& tag) { return tag.tag == kPixelScale || tag.tag == kTiepoints; });
  tags.push_back(tag_of(kTransformation, matrix));
  return true;
}

}  // namespace

bool update_georeference(std::vector<RawTag>& tags, const PixelTransform& map) {
  const PixelTransform raster = is_pixel_point(tags) ? for_pixel_centres(map) : map;
  std::vector<RawTag> updated = tags;
  if (map.turned && !replace_scale_by_matrix(updated)) return false;
  for (RawTag& tag : updated) {
    const bool is_position = tag.tag == kPixelScale || tag.tag == kTiepoints || tag.tag == kTransformation ||
                             tag.tag == kRpcCoefficients;
    if (!is_position) continue;
    auto values = values_of(tag);
    if (!values || !update_tag(tag.tag, *values, map, raster)) return false;
    tag = tag_of(tag.tag, *values);
  }
  tags = std::move(updated);
  return true;
}

std::optional<std::array<double, 6>> geotransform(const std::vector<RawTag>& tags) {
  std::vector<RawTag> copy;
  std::ranges::copy_if(tags, std::back_inserter(copy), [](const RawTag& tag) {
    return tag.tag == kPixelScale || tag.tag == kTiepoints || tag.tag == kTransformation;
  });
  if (!replace_scale_by_matrix(copy)) return std::nullopt;
  const RawTag* const tag = find_tag(copy, kTransformation);
  const auto matrix = tag != nullptr ? values_of(*tag) : std::nullopt;
  if (!matrix || matrix->size() != 16) return std::nullopt;
  const Values& m = *matrix;
  const double area = m[0] * m[5] - m[1] * m[4];  // of a pixel
  if (!std::isfinite(area) || area == 0 || !std::isfinite(m[3]) || !std::isfinite(m[7])) return std::nullopt;
  const double shift = is_pixel_point(tags) ? 0.5 : 0;  // coordinates are those of pixel centres
  return std::array{m[3] - shift * (m[0] + m[1]), m[0], m[1], m[7] - shift * (m[4] + m[5]), m[4], m[5]};
}

}  // namespace sepconv
