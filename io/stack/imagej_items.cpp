#include "io/stack/imagej_items.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "io/byte_order.hpp"

namespace sepconv {
namespace {

constexpr std::uint32_t fourcc(std::string_view letters) {
  std::uint32_t kind = 0;
  for (const char letter : letters) kind = kind << 8 | static_cast<unsigned char>(letter);
  return kind;
}

constexpr std::uint32_t kMagic = fourcc("IJIJ");
constexpr std::size_t kWordBytes = 4;
constexpr std::int64_t kRangeBytes = 16;  // two doubles a channel

struct Kind {
  std::uint32_t kind;
  const char* name;
  std::size_t unit_bytes;  ///< bytes of a value, which is stored in the file's byte order
};
constexpr Kind kKinds[] = {
    {fourcc("rang"), "display ranges", 8}, {fourcc("luts"), "LUTs", 1},    {fourcc("labl"), "labels", 2},
    {fourcc("roi "), "regions", 1},        {fourcc("over"), "overlay", 1}, {fourcc("info"), "info", 2},
    {fourcc("prop"), "properties", 2},     {fourcc("plot"), "plot", 1},
};

const Kind* find_kind(std::uint32_t kind) {
  const auto* const found = std::ranges::find(kKinds, kind, &Kind::kind);
  return found == std::end(kKinds) ? nullptr : found;
}

std::uint32_t read_u32(std::span<const std::byte> bytes, std::size_t at, bool big_endian) {
  return static_cast<std::uint32_t>(read_unsigned(bytes.subspan(at, kWordBytes), big_endian));
}

void reverse_units(std::vector<std::byte>& data, std::size_t unit_bytes) {
  for (std::size_t at = 0; at + unit_bytes <= data.size(); at += unit_bytes)
    std::reverse(data.begin() + static_cast<std::ptrdiff_t>(at),
                 data.begin() + static_cast<std::ptrdiff_t>(at + unit_bytes));
}

}  // namespace

std::vector<ImagejItem> read_imagej_items(std::span<const std::uint32_t> lengths,
                                          std::span<const std::byte> bytes) {
  if (lengths.empty() || lengths[0] < kWordBytes || lengths[0] % (2 * kWordBytes) != kWordBytes ||
      lengths[0] > bytes.size())
    return {};
  const bool big_endian = read_u32(bytes, 0, true) == kMagic;
  if (!big_endian && read_u32(bytes, 0, false) != kMagic) return {};
  const bool is_native = big_endian == (std::endian::native == std::endian::big);
  std::vector<ImagejItem> items;
  std::size_t at = lengths[0];
  for (std::size_t entry = kWordBytes; entry < lengths[0]; entry += 2 * kWordBytes) {
    const std::uint32_t kind = read_u32(bytes, entry, big_endian);
    const std::uint32_t count = read_u32(bytes, entry + kWordBytes, big_endian);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (items.size() + 1 >= lengths.size() || lengths[items.size() + 1] > bytes.size() - at) return {};
      const std::size_t length = lengths[items.size() + 1];
      const auto data = bytes.subspan(at, length);
      items.push_back({kind, {data.begin(), data.end()}});
      if (const Kind* const it = find_kind(kind); it != nullptr && !is_native)
        reverse_units(items.back().data, it->unit_bytes);
      at += length;
    }
  }
  // Items of unknown kinds cannot be converted to native byte order.
  if (!is_native)
    std::erase_if(items, [](const ImagejItem& item) { return find_kind(item.kind) == nullptr; });
  return items;
}

std::pair<std::vector<std::uint32_t>, std::vector<std::byte>> encode_imagej_items(
    const std::vector<ImagejItem>& items) {
  std::vector<std::uint32_t> header{kMagic};
  std::vector<std::uint32_t> lengths{0};
  for (const ImagejItem& item : items) {
    if (header.size() == 1 || header[header.size() - 2] != item.kind)
      header.insert(header.end(), {item.kind, 0});
    ++header.back();
    lengths.push_back(static_cast<std::uint32_t>(item.data.size()));
  }
  lengths[0] = static_cast<std::uint32_t>(kWordBytes * header.size());
  const auto header_bytes = std::as_bytes(std::span(header));
  std::vector<std::byte> bytes(header_bytes.begin(), header_bytes.end());
  for (const ImagejItem& item : items) bytes.insert(bytes.end(), item.data.begin(), item.data.end());
  return {std::move(lengths), std::move(bytes)};
}

void select_imagej_channels(std::vector<ImagejItem>& items, std::int64_t first, std::int64_t count) {
  const auto is_selected = [&](std::int64_t channel) { return channel >= first && channel < first + count; };
  std::int64_t lut = 0;
  if (std::ranges::count(items, fourcc("luts"), &ImagejItem::kind) >= first + count)
    std::erase_if(items,
                  [&](const ImagejItem& item) { return item.kind == fourcc("luts") && !is_selected(lut++); });
  for (ImagejItem& item : items) {
    if (item.kind != fourcc("rang") || std::ssize(item.data) < (first + count) * kRangeBytes) continue;
    const auto begin = item.data.begin() + first * kRangeBytes;
    item.data = std::vector<std::byte>(begin, begin + count * kRangeBytes);
  }
}

void update_imagej_items(std::vector<ImagejItem>& items, const RasterAxes& axes, const ImageChange& change,
                         std::vector<std::string>& lost) {
  if (items.empty()) return;
  const bool is_moved = change.map != PixelTransform{} || !change.part.empty();
  const auto count = [&](std::string_view kind) {
    return std::ranges::count(items, fourcc(kind), &ImagejItem::kind);
  };
  const RasterAxis* const c = find_axis(axes, "c");
  const std::int64_t channels = c != nullptr && c->size > 1 ? c->size : change.to.channels;
  const auto is_invalidated = [&](const ImagejItem& item) {
    if (item.kind == fourcc("rang"))
      return change.values || change.type || change.channels ||
             std::ssize(item.data) != kRangeBytes * channels;
    if (item.kind == fourcc("luts")) return change.channels || count("luts") != channels;
    if (item.kind == fourcc("labl")) return count("labl") != raster_count(axes);
    if (item.kind == fourcc("info") || item.kind == fourcc("prop")) return false;
    return is_moved || item.kind == fourcc("plot");
  };
  std::vector<ImagejItem> retained, dropped;
  for (ImagejItem& item : items) (is_invalidated(item) ? dropped : retained).push_back(std::move(item));
  items = std::move(retained);
  if (!dropped.empty())
    lost.push_back(
        fmt::format("ImageJ's {} are left out: they are those of the source's values, channels or places",
                    names_of(dropped)));
}

std::string names_of(const std::vector<ImagejItem>& items) {
  std::vector<std::string> names;
  for (const ImagejItem& item : items) {
    const Kind* const it = find_kind(item.kind);
    std::string name = it == nullptr ? "other items" : it->name;
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace sepconv
