#include "io/world_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <fstream>
#include <span>
#include <sstream>

#include "io/gdal_tags.hpp"
#include "io/metadata_text.hpp"
#include "io/nodata.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

using World = std::array<double, 6>;

/// Reads six lines with a number each. Ignores empty lines; a decimal comma is allowed.
std::optional<World> read_world(const fs::path& path) {
  constexpr std::size_t kMaxBytes = 4096;
  std::ifstream file(path, std::ios::binary);
  std::string text(kMaxBytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  std::ranges::replace(text, ',', '.');
  std::istringstream lines(text);
  World world{};
  std::size_t count = 0;
  for (std::string line; count < world.size() && std::getline(lines, line);) {
    std::erase_if(line, [](unsigned char letter) { return std::isspace(letter) != 0; });
    if (line.empty()) continue;
    const std::optional<double> number = number_of(line);
    if (!number || !std::isfinite(*number)) return std::nullopt;
    world[count++] = *number;
  }
  const bool is_invertible = (world[0] != 0 || world[2] != 0) && (world[3] != 0 || world[1] != 0);
  return count == world.size() && is_invertible ? std::optional(world) : std::nullopt;
}

RawTag double_tag(std::uint32_t tag, std::span<const double> values) {
  constexpr std::uint16_t kTiffDouble = 12;
  const auto bytes = std::as_bytes(values);
  return {tag, kTiffDouble, values.size(), {bytes.begin(), bytes.end()}};
}

/// World files contain the centre of the first pixel. The tags contain its corner, unless pixels are points.
void add_tags(const World& world, Metadata& metadata) {
  const auto [cols_x, cols_y, rows_x, rows_y, centre_x, centre_y] = world;
  const double corner_shift = is_pixel_point(metadata.geo_tags) ? 0 : 0.5;
  const double x = centre_x - corner_shift * (cols_x + rows_x),
               y = centre_y - corner_shift * (cols_y + rows_y);
  if (cols_y == 0 && rows_x == 0 && cols_x > 0 && rows_y < 0) {
    metadata.geo_tags.push_back(double_tag(kPixelScale, std::array{cols_x, -rows_y, 0.0}));
    metadata.geo_tags.push_back(double_tag(kTiepoints, std::array{0.0, 0.0, 0.0, x, y, 0.0}));
    return;
  }
  metadata.geo_tags.push_back(double_tag(
      kTransformation,
      std::array{cols_x, rows_x, 0.0, x, cols_y, rows_y, 0.0, y, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0}));
}

}  // namespace

std::vector<fs::path> world_files(const fs::path& image) {
  const std::string ending = image.extension().native();  // with its dot
  if (ending.size() < 3) return {};
  std::vector<fs::path> names;
  for (const auto& candidate :
       {ending.substr(0, 2) + ending.back() + "w", ending + "w", std::string(".wld")}) {
    for (const auto to_case :
         {static_cast<int (*)(int)>(std::tolower), static_cast<int (*)(int)>(std::toupper)}) {
      std::string name = candidate;
      std::ranges::transform(name, name.begin(),
                             [&](unsigned char letter) { return static_cast<char>(to_case(letter)); });
      names.push_back(fs::path(image).replace_extension(name));
    }
  }
  return names;
}

std::string read_world_file(const fs::path& image, Metadata& metadata, std::vector<std::string>& warnings) {
  const bool is_georeferenced = std::ranges::any_of(metadata.geo_tags, [](const RawTag& raw) {
    return raw.tag == kTiepoints || raw.tag == kTransformation;
  });
  if (is_georeferenced) return {};
  for (const fs::path& name : world_files(image)) {
    std::error_code ignored;
    if (!fs::is_regular_file(name, ignored)) continue;
    if (const std::optional<World> world = read_world(name)) {
      std::erase_if(metadata.geo_tags, [](const RawTag& raw) { return raw.tag == kPixelScale; });
      add_tags(*world, metadata);
      return name.filename().native();
    }
    warnings.push_back(
        fmt::format("{} next to it is not read: a world file is six lines of a number each, sizes of pixels "
                    "that are not 0 among them",
                    name.filename().native()));
  }
  return {};
}

}  // namespace sepconv
