#include "sepconv/io/file_layout.hpp"

#include <algorithm>

namespace sepconv {
namespace {

constexpr std::string_view kCompressionNames[] = {"none", "lzw", "deflate", "zstd", "jpeg", "packbits"};

}  // namespace

std::string_view name_of(Compression compression) noexcept {
  return kCompressionNames[static_cast<std::size_t>(compression)];
}

std::optional<Compression> parse_compression(std::string_view name) noexcept {
  const auto* const found = std::find(std::begin(kCompressionNames), std::end(kCompressionNames), name);
  if (found == std::end(kCompressionNames)) return std::nullopt;
  return static_cast<Compression>(found - std::begin(kCompressionNames));
}

std::vector<Extent> level_extents(Extent image, const FileLayout& layout) {
  constexpr Extent kUsual{512, 512};
  const Extent least = layout.tiled ? layout.tile : kUsual;
  std::vector<Extent> extents;
  if (layout.levels == Levels::none) return extents;
  while (image.rows > least.rows || image.cols > least.cols) {
    image = {ceil_div(image.rows, 2), ceil_div(image.cols, 2)};
    extents.push_back(image);
  }
  return extents;
}

}  // namespace sepconv
