#include "io/tiff/ifd.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <span>

#include "io/byte_order.hpp"

namespace sepconv {
namespace {

/// More entries than any real directory has; libtiff would allocate some hundred bytes for each.
constexpr std::uint64_t kMaxDirectoryEntries = 4096;
constexpr std::size_t kMaxDirectories = 1 << 20;

constexpr std::uint32_t kNewSubfileType = 254;
constexpr std::uint32_t kSubfileType = 255;

/// Bytes of a value, by field type (BYTE, ASCII, SHORT, LONG, RATIONAL, ...); 1 for unknown types.
int width_of(std::uint16_t type) {
  constexpr int kWidths[] = {1, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 1, 1, 8, 8, 8};
  return type < std::size(kWidths) ? kWidths[type] : 1;
}

bool is_unsigned(std::uint16_t type) {
  return type == 1 || type == 3 || type == 4 || type == 13 || type == 16 || type == 18;
}

}  // namespace

std::int64_t TiffEntry::bytes() const noexcept {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max() / 8);
  return static_cast<std::int64_t>(std::min(count, kMax) * static_cast<std::uint64_t>(width_of(type)));
}

const TiffEntry* TiffEntries::find(std::uint32_t tag) const noexcept {
  const auto found = std::ranges::find(list, tag, &TiffEntry::tag);
  return found == list.end() ? nullptr : &*found;
}

TiffChain::TiffChain(const InputFile& file) : file_(file) {
  std::array<std::byte, 4> head{};
  if (file.read_some_at(0, head) < 4) return;
  big_endian_ = head[0] == std::byte{'M'};
  big_tiff_ = read_unsigned(std::span(head).subspan(2), big_endian_) == 43;
  next_ = big_tiff_ ? number_at(8, 8) : number_at(4, 4);
}

std::uint64_t TiffChain::number_at(std::int64_t offset, int bytes) const {
  std::array<std::byte, 8> value{};
  const auto destination = std::span(value).first(static_cast<std::size_t>(bytes));
  return file_.read_some_at(offset, destination) == bytes ? read_unsigned(destination, big_endian_) : 0;
}

std::optional<std::uint64_t> TiffChain::number(const TiffEntry& entry, std::uint64_t index) const {
  if (!is_unsigned(entry.type) || index >= entry.count) return std::nullopt;
  if (index == 0 && entry.inline_value) return entry.inline_value;
  const int width = width_of(entry.type);
  const std::int64_t size = file_.size();
  if (index > static_cast<std::uint64_t>(size)) return std::nullopt;
  const std::int64_t at = static_cast<std::int64_t>(index) * width;
  if (entry.value_offset > size - width - at) return std::nullopt;
  return number_at(entry.value_offset + at, width);
}

std::optional<TiffEntries> TiffChain::read(std::uint64_t offset) const {
  const auto size = static_cast<std::uint64_t>(file_.size());
  const int entry_bytes = big_tiff_ ? 20 : 12;
  const int count_bytes = big_tiff_ ? 8 : 2;
  // size of an offset, of a count, and of values stored in their entry
  const int field_bytes = big_tiff_ ? 8 : 4;
  if (offset == 0 || offset >= size) return std::nullopt;
  const auto begin = static_cast<std::int64_t>(offset);
  const std::uint64_t count = number_at(begin, count_bytes);
  if (count == 0 || count > kMaxDirectoryEntries) return std::nullopt;
  std::vector<std::byte> bytes(count * static_cast<std::uint64_t>(entry_bytes) +
                               static_cast<std::uint64_t>(field_bytes));
  if (file_.read_some_at(begin + count_bytes, bytes) < static_cast<std::int64_t>(bytes.size()) - field_bytes)
    return std::nullopt;
  TiffEntries entries;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto entry = std::span(bytes).subspan(i * static_cast<std::uint64_t>(entry_bytes),
                                                static_cast<std::size_t>(entry_bytes));
    const auto field = [&](std::size_t at, std::size_t length) {
      return read_unsigned(entry.subspan(at, length), big_endian_);
    };
    const auto value_at = static_cast<std::size_t>(4 + field_bytes);
    TiffEntry read{static_cast<std::uint32_t>(field(0, 2)), static_cast<std::uint16_t>(field(2, 2)),
                   field(4, static_cast<std::size_t>(field_bytes)), 0};
    const std::uint64_t external_offset =
        std::min(field(value_at, static_cast<std::size_t>(field_bytes)), size);
    const std::int64_t inline_offset = begin + count_bytes + static_cast<std::int64_t>(i) * entry_bytes +
                                       static_cast<std::int64_t>(value_at);
    const bool is_inline = read.bytes() <= field_bytes;
    read.value_offset = is_inline ? inline_offset : static_cast<std::int64_t>(external_offset);
    if (is_inline && read.count > 0 && is_unsigned(read.type))
      read.inline_value = field(value_at, static_cast<std::size_t>(width_of(read.type)));
    entries.list.push_back(read);
  }
  entries.next = read_unsigned(std::span(bytes).last(static_cast<std::size_t>(field_bytes)), big_endian_);
  entries.kind = kind_of(entries);
  return entries;
}

TiffEntries::Kind TiffChain::kind_of(const TiffEntries& entries) const {
  using Kind = TiffEntries::Kind;
  constexpr std::uint64_t kReduced = 1;
  constexpr std::uint64_t kMask = 4;
  if (const TiffEntry* const entry = entries.find(kNewSubfileType)) {
    const std::uint64_t bits = number(*entry).value_or(0);
    return (bits & kMask) != 0 ? Kind::mask : (bits & kReduced) != 0 ? Kind::reduced : Kind::image;
  }
  constexpr std::uint64_t kOldReduced = 2;
  if (const TiffEntry* const entry = entries.find(kSubfileType))
    return number(*entry) == kOldReduced ? Kind::reduced : Kind::image;
  return Kind::image;
}

std::optional<TiffEntries> TiffChain::next() {
  if (next_ == 0) return std::nullopt;
  std::optional<TiffEntries> entries;
  if (visited_.size() < kMaxDirectories && visited_.insert(next_).second) entries = read(next_);
  broken_ = !entries;
  next_ = entries ? entries->next : 0;
  return entries;
}

}  // namespace sepconv
