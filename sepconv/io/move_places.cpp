#include "sepconv/io/move_places.hpp"

#include <cstring>

#include "sepconv/io/gdal_tags.hpp"

namespace sepconv {
namespace {

constexpr std::uint16_t kDouble = 12;  // TIFF's type

/// OGC GeoTIFF 1.1, sections 7.1 and 7.2; STDI-0002 and GDAL's RPCsInGeoTIFF for the coefficients.
bool move(std::uint32_t tag, std::vector<double>& values, double row, double col) {
  if (tag == kTiepoints) {  // column, row, level, and the place of each
    for (std::size_t i = 0; i + 5 < values.size(); i += 6) values[i] -= col, values[i + 1] -= row;
    return values.size() % 6 == 0;
  }
  if (tag == kTransformation) {  // a matrix of 4 x 4 for (column, row, level, 1)
    if (values.size() != 16) return false;
    for (std::size_t i = 0; i < 12; i += 4) values[i + 3] += values[i] * col + values[i + 1] * row;
    return true;
  }
  if (values.size() != 92) return false;  // two errors, the offsets of row and column, ...
  values[2] -= row, values[3] -= col;
  return true;
}

}  // namespace

bool move_places(std::vector<RawTag>& tags, const Rect& part) {
  std::vector<RawTag> moved = tags;
  for (RawTag& tag : moved) {
    if (tag.tag != kTiepoints && tag.tag != kTransformation && tag.tag != kRpcCoefficients) continue;
    std::vector<double> values(tag.data.size() / sizeof(double));
    if (tag.type != kDouble || values.size() * sizeof(double) != tag.data.size()) return false;
    std::memcpy(values.data(), tag.data.data(), tag.data.size());
    if (!move(tag.tag, values, static_cast<double>(part.row), static_cast<double>(part.col))) return false;
    std::memcpy(tag.data.data(), values.data(), tag.data.size());
  }
  tags = std::move(moved);
  return true;
}

}  // namespace sepconv
