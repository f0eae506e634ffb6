#include "sepconv/io/file_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "sepconv/core/error.hpp"
#include "sepconv/core/printable.hpp"
#include "sepconv/io/deflate/deflater.hpp"
#include "sepconv/io/zstd/raster_coder.hpp"

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

LevelRange levels_of(Compression compression) noexcept {
  switch (compression) {
    case Compression::deflate:
      return {deflate::kFast, deflate::kBestLevel, deflate::kAutomatic};
    case Compression::zstd:
      return {zstd::kFast, 22,
              1};  // behind a predictor 1.5 to 5 times as fast as zstd's own 3, within 8 % of its size
    case Compression::jpeg:
      return {1, 100, 90};
    default:
      return {};
  }
}

Codec parse_codec(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto compression = parse_compression(text.substr(0, colon));
  if (!compression) {
    throw InvalidArgument(fmt::format(
        "'{}' is no compression; use none, lzw, deflate, zstd, jpeg or packbits, with :LEVEL if wanted",
        printable(text)));
  }
  if (colon == text.npos) return {*compression};
  const std::string_view level = text.substr(colon + 1);
  if (levels_of(*compression).least == deflate::kFast && level == "fast")
    return {*compression, deflate::kFast};
  if (*compression == Compression::deflate && level == "best") return {*compression, deflate::kBestLevel};
  int number = 0;
  const auto [end, error] = std::from_chars(level.data(), level.data() + level.size(), number);
  if (error != std::errc() || end != level.data() + level.size() || number < 1 ||
      number > levels_of(*compression).greatest) {
    throw InvalidArgument(
        fmt::format("'{}': levels are deflate:1..12, deflate:fast, deflate:best, zstd:1..22, zstd:fast and "
                    "jpeg:1..100 (quality); give one of these",
                    printable(text)));
  }
  return {*compression, number};
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
