#include "io/file_layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/deflate/deflater.hpp"
#include "io/zstd/raster_coder.hpp"

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
              1};  // after a predictor 1.5 to 5 times as fast as zstd's default 3, within 8 % of its size
    case Compression::jpeg:
      return {1, 100, 90};
    default:
      return {};
  }
}

namespace {

std::string levels_text(Compression compression) {
  switch (compression) {
    case Compression::deflate:
      return "levels are deflate:1 to deflate:12, deflate:fast and deflate:best; give one of these";
    case Compression::zstd:
      return "levels are zstd:1 to zstd:22 and zstd:fast; give one of these";
    case Compression::jpeg:
      return "qualities are jpeg:1 to jpeg:100, optionally followed by :444, :422 or :420; give one of these";
    default:
      return "it has no levels; omit :LEVEL";
  }
}

}  // namespace

std::string name_of(Chroma chroma) {
  if (chroma == Chroma{1, 1}) return "4:4:4";
  if (chroma == Chroma{2, 1}) return "4:2:2";
  if (chroma == Chroma{2, 2}) return "4:2:0";
  if (chroma == Chroma{1, 2}) return "4:4:0";
  if (chroma == Chroma{4, 1}) return "4:1:1";
  return fmt::format("a colour for {} x {} pixels", chroma.cols, chroma.rows);
}

namespace {

std::optional<Chroma> parse_chroma(std::string_view digits) {
  if (digits == "444") return Chroma{1, 1};
  if (digits == "422") return Chroma{2, 1};
  if (digits == "420") return Chroma{2, 2};
  return std::nullopt;
}

/// Parses "jpeg:85:444"; null for texts without a chroma.
std::optional<Codec> parse_jpeg_with_chroma(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (!text.starts_with("jpeg:") || colon == text.npos || colon < 5) return std::nullopt;
  const std::optional<Chroma> chroma = parse_chroma(text.substr(colon + 1));
  if (!chroma) return std::nullopt;
  Codec codec = parse_codec(text.substr(0, colon));
  codec.chroma = chroma;
  return codec;
}

}  // namespace

Codec parse_codec(std::string_view text) {
  if (const std::optional<Codec> codec = parse_jpeg_with_chroma(text)) return *codec;
  const std::size_t colon = text.find(':');
  const auto compression = parse_compression(text.substr(0, colon));
  if (!compression) {
    throw InvalidArgument(fmt::format(
        "'{}' is not a compression; use none, lzw, deflate, zstd, jpeg or packbits, with :LEVEL if wanted",
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
    throw InvalidArgument(fmt::format("'{}': {}", printable(text), levels_text(*compression)));
  }
  return {*compression, number};
}

const AxisPositions* find_positions(const std::vector<AxisPositions>& positions,
                                    std::string_view axis) noexcept {
  const auto found = std::ranges::find(positions, axis, &AxisPositions::axis);
  return found == positions.end() ? nullptr : &*found;
}

std::string to_string(const std::vector<AxisPositions>& positions) {
  std::string text;
  for (const auto& [axis, count, is_explicit] : positions)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis, count);
  return text;
}

namespace {

/// Parses a side of at least `min_side`; null if invalid.
std::optional<std::int64_t> parse_side(std::string_view text, std::int64_t min_side) {
  std::int64_t side = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
  if (error != std::errc() || end != text.data() + text.size() || side < min_side || side > kMaxSide)
    return std::nullopt;
  return side;
}

/// Parses "512", "512x256", "0" or "z=16". Returns false if it is invalid or repeated.
bool parse_sides(std::string_view text, BlockShape& shape, Extent& named_sides) {
  const std::size_t equals = text.find('=');
  if (equals == text.npos) {
    const std::size_t cross = text.find('x');
    const auto rows = parse_side(text.substr(0, cross), cross == text.npos ? 0 : 1);
    const auto cols = cross == text.npos ? rows : parse_side(text.substr(cross + 1), 1);
    if (!rows || !cols || shape.sides) return false;
    shape.sides = {*rows, *cols};
    return true;
  }
  const std::string_view axis = text.substr(0, equals);
  const auto side = parse_side(text.substr(equals + 1), 1);
  if (!side || axis.empty() || find_positions(shape.others, axis) != nullptr) return false;
  if (axis != "y" && axis != "x") {
    shape.others.push_back({std::string(axis), *side, true});
    return true;
  }
  std::int64_t& named_side = axis == "y" ? named_sides.rows : named_sides.cols;
  return std::exchange(named_side, *side) == 0;
}

}  // namespace

BlockShape parse_block_shape(std::string_view text) {
  BlockShape shape;
  Extent named_sides;
  bool is_shape = true;
  for (std::string_view rest = text; is_shape;) {
    const std::size_t comma = rest.find(',');
    is_shape = parse_sides(rest.substr(0, comma), shape, named_sides);
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  const bool names_sides = named_sides != Extent{};
  if (!is_shape || (names_sides && (named_sides.empty() || shape.sides)))
    throw InvalidArgument(fmt::format(
        "'{}' is not a shape of a block; use 512, 512x256 (rows x columns), or names, as in z=16,512x256 or "
        "z=16,y=512,x=256",
        printable(text)));
  if (names_sides) shape.sides = named_sides;
  return shape;
}

std::vector<Extent> level_extents(Extent image, const FileLayout& layout) {
  constexpr Extent kDefaultTile{512, 512};
  const Extent min_extent = layout.tiled ? layout.tile : kDefaultTile;
  std::vector<Extent> extents;
  if (layout.levels == Levels::none) return extents;
  while (image.rows > min_extent.rows || image.cols > min_extent.cols) {
    image = {ceil_div(image.rows, 2), ceil_div(image.cols, 2)};
    extents.push_back(image);
  }
  return extents;
}

}  // namespace sepconv
