#include "io/zarr/zarr_axes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "core/error.hpp"
#include "io/flat/npy_axes.hpp"
#include "io/zarr/zarr_result.hpp"

namespace sepconv {
namespace {

constexpr std::array<std::string_view, 6> kRows{"y", "lat", "latitude", "row", "rows", "height"};
constexpr std::array<std::string_view, 7> kCols{"x", "lon", "longitude", "col", "cols", "width", "column"};
constexpr std::array<std::string_view, 7> kChannels{"c", "channel", "channels", "band", "bands", "s", "rgb"};

std::string lower_name(std::string_view name) {
  std::string text(name);
  std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return text;
}

/// Assigns a letter to each axis by its name, its first letter if that is free. Returns an empty string
/// unless the names include rows and columns.
std::string assign_letters(const std::vector<std::string>& names) {
  std::string letters(names.size(), ' ');
  const auto assign = [&](const auto& known, char letter) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (std::ranges::find(known, lower_name(names[i])) == known.end()) continue;
      letters[i] = letter;
      return true;
    }
    return false;
  };
  const bool has_rows = assign(kRows, 'y');
  if (!assign(kCols, 'x') || (names.size() > 1 && !has_rows)) return {};
  if (letters.back() == ' ' && std::ranges::find(kChannels, lower_name(names.back())) != kChannels.end())
    letters.back() = 'c';
  for (const std::string_view others : {"", "tzsuvwabdefghijklmnopqrc"}) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (letters[i] != ' ') continue;
      const std::string candidates = (lower_name(names[i]) + " ").substr(0, 1) + std::string(others);
      const auto free = std::ranges::find_if(candidates, [&](char letter) {
        return letter >= 'a' && letter <= 'z' && letters.find(letter) == letters.npos;
      });
      if (free != candidates.end()) letters[i] = *free;
    }
  }
  return letters;
}

std::string byte_order_text(const ZarrArray& array) {
  if (array.type.bits_of_part() == 8) return "single bytes";
  return array.big_endian ? "big-endian" : "little-endian";
}

std::string codec_text(const ZarrArray& array) {
  std::string text;
  for (const ZarrCodec& codec : array.codecs)
    text += fmt::format("{}{}{}", text.empty() ? "" : " + ", name_of(codec),
                        codec.raster ? " without search" : "");
  return text.empty() ? "uncompressed" : text;
}

/// SourceLayout::codec: the codec that takes most of the time.
std::string timed_codec(const ZarrArray& array) {
  using enum ZarrCodec::Kind;
  std::string name = kUncompressed;
  for (const ZarrCodec& codec : array.codecs) {
    if (codec.kind == crc32c) {
      if (name == kUncompressed) name = "CRC-32C";
    } else if (codec.kind == gzip || codec.kind == zlib || codec.blosc_codec == "zlib") {
      name = "deflate";
    } else {
      name = codec.kind == zstd || codec.blosc_codec == "zstd" ? "zstd" : "LZ4";
    }
  }
  return name;
}

}  // namespace

ZarrAxes zarr_axes(const ZarrArray& array, std::string_view letters, const std::filesystem::path& name) {
  constexpr std::size_t kMaxLetters = 20;
  if (array.shape.empty() && letters.empty()) return {};
  const std::string derived_letters =
      letters.empty() && array.names.size() < kMaxLetters ? assign_letters(array.names) : "";
  const NpyAxes npy = npy_axes(array.shape, false, letters.empty() ? derived_letters : letters, name);
  ZarrAxes axes;
  axes.letters = npy.names;
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    const auto axis = static_cast<int>(i);
    const char letter = npy.names[i];
    const std::string name_of_axis = letters.empty() && !derived_letters.empty() ? array.names[i] : "";
    if (letter == 'y') {
      axes.row = axis, axes.row_name = name_of_axis;
    } else if (letter == 'x') {
      axes.col = axis, axes.col_name = name_of_axis;
    } else if (letter == 'c' && i + 1 == array.shape.size()) {
      axes.channel = axis, axes.channel_name = name_of_axis;
    } else {
      axes.others.push_back(axis);
      axes.rasters.push_back({name_of_axis.empty() ? std::string(1, letter) : name_of_axis, array.shape[i]});
    }
  }
  const auto [rows, cols] = npy.extent;
  if (rows < 1 || cols < 1 || npy.channels < 1 || rows > kMaxSide || cols > kMaxSide)
    throw IoError(fmt::format("cannot read {}: an array of shape ({}) has no image; its sides are 1 to {}",
                              name.native(), fmt::join(array.shape, ", "), kMaxSide));
  return axes;
}

namespace {

/// The letter of each axis in ZarrLayout::order.
std::string order_letters(const ZarrAxes& axes) {
  std::string letters(axes.others.size() + (axes.row >= 0) + (axes.col >= 0) + (axes.channel >= 0), ' ');
  const auto put = [&](int axis, char letter) {
    if (axis >= 0) letters[static_cast<std::size_t>(axis)] = letter;
  };
  put(axes.row, 'y'), put(axes.col, 'x'), put(axes.channel, 'c');
  for (std::size_t i = 0; i < axes.others.size(); ++i) put(axes.others[i], static_cast<char>('0' + i));
  return letters;
}

}  // namespace

std::string zarr_order_text(const ZarrArray& array, const ZarrAxes& axes) {
  if (std::ranges::is_sorted(array.order)) return {};
  const std::string letters = order_letters(axes);
  std::string text;
  for (const int axis : array.order) text += letters[static_cast<std::size_t>(axis)];
  return text;
}

std::optional<std::vector<int>> zarr_order(std::string_view text, const ZarrAxes& axes) {
  const std::string letters = order_letters(axes);
  std::vector<int> order;
  for (const char letter : text)
    if (const auto axis = letters.find(letter); axis != letters.npos) order.push_back(static_cast<int>(axis));
  return order.size() == letters.size() ? std::optional(order) : std::nullopt;
}

ImageSpec zarr_image(const ZarrArray& array, const ZarrAxes& axes) {
  const auto length = [&](int axis) { return axis < 0 ? 1 : array.shape[static_cast<std::size_t>(axis)]; };
  return {
      {length(axes.row), length(axes.col)}, length(axes.channel) * array.type.parts(), array.type.pixels()};
}

namespace {

std::optional<BlockCodec> block_codec(const ZarrArray& array) {
  if (array.codecs.size() != 1) return std::nullopt;
  switch (array.codecs.front().kind) {
    case ZarrCodec::Kind::zlib:
      return BlockCodec::zlib;
    case ZarrCodec::Kind::gzip:
      return BlockCodec::gzip;
    case ZarrCodec::Kind::zstd:
      return BlockCodec::zstd;
    case ZarrCodec::Kind::lz4:
      return BlockCodec::lz4;
    default:
      return std::nullopt;
  }
}

/// The encoding of chunks that contain whole pixels of one image, row by row; null for other chunks.
std::optional<EncodedTiles> coded_chunks(const ZarrArray& array, const ZarrAxes& axes) {
  const auto codec = block_codec(array);
  const auto block = [&](int axis) { return axis < 0 ? 1 : array.block()[static_cast<std::size_t>(axis)]; };
  const std::int64_t channels = axes.channel < 0 ? 1 : array.shape[static_cast<std::size_t>(axes.channel)];
  const bool one_image = std::ranges::all_of(axes.others, [&](int axis) { return block(axis) == 1; });
  const bool by_rows = std::ranges::is_sorted(array.order) && axes.row < axes.col &&
                       (axes.channel < 0 || axes.channel > axes.col);
  if (!codec || !one_image || !by_rows || block(axes.channel) != channels || !array.type.is_pixels())
    return std::nullopt;
  return EncodedTiles{.tile = {block(axes.row), block(axes.col)},
                      .channels = channels,
                      .type = array.type.pixels(),
                      .big_endian = array.big_endian,
                      .codec = *codec,
                      .has_checksum = array.codecs.front().checked};
}

/// The positions of an object of this shape along the other axes, as in FileLayout; at most the length of the
/// axis.
std::vector<AxisPositions> positions_along_others(const ZarrArray& array, const ZarrShape& shape,
                                                  const ZarrAxes& axes) {
  std::vector<AxisPositions> others;
  const auto add = [&](int axis, const std::string& name) {
    const auto i = static_cast<std::size_t>(axis);
    if (const std::int64_t count = std::min(shape[i], array.shape[i]); count > 1)
      others.push_back({name, count});
  };
  for (std::size_t i = 0; i < axes.others.size(); ++i) add(axes.others[i], axes.rasters[i].name);
  if (axes.channel >= 0) add(axes.channel, channel_axis(axes.rasters));
  return others;
}

std::int64_t side(const ZarrShape& shape, int axis) {
  return axis < 0 ? 1 : shape[static_cast<std::size_t>(axis)];
}

/// Sets the compression in terms that apply to all formats.
void set_compression(const ZarrArray& array, FileLayout& file) {
  for (const ZarrCodec& codec : array.codecs) {
    const bool deflates = codec.kind == ZarrCodec::Kind::gzip || codec.kind == ZarrCodec::Kind::zlib ||
                          codec.blosc_codec == "zlib";
    if (codec.kind == ZarrCodec::Kind::crc32c) continue;
    file.compression = deflates ? Compression::deflate : Compression::zstd;
    if (codec.kind == ZarrCodec::Kind::zstd && codec.level > 0) file.level = codec.level;
  }
  file.zarr.codecs = zarr_codecs_text(array);
}

/// The layout for a result like this array.
FileLayout file_layout(const ZarrArray& array, const ZarrAxes& axes) {
  FileLayout file;
  file.tiled = true;
  file.tile = {side(array.block(), axes.row), side(array.block(), axes.col)};
  file.planar = axes.channel >= 0 && side(array.block(), axes.channel) < side(array.shape, axes.channel);
  file.zarr.chunk_others = positions_along_others(array, array.block(), axes);
  set_compression(array, file);
  file.zarr.version = array.version;
  if (!array.shards.empty()) {
    file.zarr.shard = {side(array.chunk, axes.row), side(array.chunk, axes.col)};
    file.zarr.shard_others = positions_along_others(array, array.chunk, axes);
    file.zarr.nests_shards = array.shards.size() > 1;
  }
  file.zarr.fill = array.has_fill ? format_zarr_fill(array.fill, array.type, 3) : "null";
  file.zarr.fill_version = array.version;
  file.zarr.rows_name = axes.row_name;
  file.zarr.cols_name = axes.col_name;
  file.zarr.channels_name = axes.channel_name;
  file.zarr.keeps_channel = axes.channel >= 0 && side(array.shape, axes.channel) == 1;
  file.zarr.big_endian = array.big_endian;
  file.zarr.v2_chunk_keys = array.v2_chunk_keys && array.version == 3;
  file.zarr.separator = array.separator;
  file.zarr.index_at_start = !array.shards.empty() && array.shards.front().index_at_start;
  file.zarr.order = zarr_order_text(array, axes);
  return file;
}

}  // namespace

const char* channel_axis(const RasterAxes& others) { return find_axis(others, "c") == nullptr ? "c" : "s"; }

SourceLayout zarr_source_layout(const ZarrArray& array, const ZarrAxes& axes) {
  SourceLayout layout;
  const Extent image = zarr_image(array, axes).extent;
  layout.block = {std::min(side(array.block(), axes.row), image.rows),
                  std::min(side(array.block(), axes.col), image.cols)};
  layout.block_layers = ceil_div(side(array.shape, axes.channel), side(array.block(), axes.channel));
  layout.blocks_shared_by_images = std::ranges::any_of(axes.others, [&](int axis) {
    return std::min(side(array.block(), axis), side(array.shape, axis)) > 1;
  });
  layout.description =
      fmt::format("Zarr {}, chunks of {}{}, {}, {}", array.version, fmt::join(array.block(), " x "),
                  array.shards.empty() ? "" : fmt::format(" in shards of {}", fmt::join(array.chunk, " x ")),
                  codec_text(array), byte_order_text(array));
  if (!std::ranges::is_sorted(array.order)) layout.description += ", another order than C";
  if (!array.type.is_pixels()) {
    layout.stored = array.type;
    layout.description += ", " + name_of(array.type);
  }
  layout.codec = timed_codec(array);
  layout.coded = coded_chunks(array, axes);
  layout.file = file_layout(array, axes);
  return layout;
}

}  // namespace sepconv
