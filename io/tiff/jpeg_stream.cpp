#include "io/tiff/jpeg_stream.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sepconv {
namespace {

constexpr std::byte kMark{0xFF}, kBegin{0xD8}, kEnd{0xD9};  // ITU-T T.81, table B.1
constexpr std::size_t kMarkerBytes = 2;

bool is_marker(std::span<const std::byte> bytes, std::byte which) noexcept {
  return bytes.size() >= kMarkerBytes && bytes[0] == kMark && bytes[1] == which;
}

/// Both begin an image, and one of them is enough; what ends the tables goes, too.
std::size_t added_bytes(std::span<const std::byte> tables) noexcept {
  return tables.empty() ? 0 : tables.size() - 2 * kMarkerBytes;
}

struct Walk {
  std::optional<JpegFrame> frame;
  std::size_t next = 0;  ///< where else to go on; 0 where there is no segment
};

/// From segment to segment, while these bytes have enough of one.
Walk walk_segments(std::span<const std::byte> bytes, std::size_t at) noexcept {
  const auto u8 = [&](std::size_t place) { return std::to_integer<int>(bytes[place]); };
  const auto u16 = [&](std::size_t place) { return u8(place) << 8 | u8(place + 1); };
  while (at + 9 < bytes.size()) {
    const int marker = u8(at + 1);
    if (u8(at) != 0xFF) return {};
    const bool is_frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame) return {JpegFrame{marker, u8(at + 4), {u16(at + 5), u16(at + 7)}}, 0};
    const bool is_fill = marker == 0xFF;
    at += is_fill ? 1 : kMarkerBytes + static_cast<std::size_t>(u16(at + 2));
  }
  return {{}, at};
}

}  // namespace

std::optional<JpegFrame> jpeg_frame(std::span<const std::byte> stream) noexcept {
  return walk_segments(stream, kMarkerBytes).frame;
}

std::optional<JpegFrame> jpeg_frame(const InputFile& file, std::int64_t offset, std::int64_t bytes) {
  std::array<std::byte, 4096> part;
  auto at = static_cast<std::int64_t>(kMarkerBytes);
  for (int reads = 0; reads < kMaxFrameReads && at < bytes; ++reads) {
    const auto seen =
        std::span(part).first(static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(part), bytes - at)));
    file.read_at(offset + at, seen);
    const Walk walk = walk_segments(seen, 0);
    if (walk.frame || walk.next == 0) return walk.frame;
    at += static_cast<std::int64_t>(walk.next);
  }
  return std::nullopt;
}

bool are_plain_jpeg_tables(std::span<const std::byte> tables) noexcept {
  if (tables.empty()) return true;
  if (!is_marker(tables, kBegin)) return false;
  for (tables = tables.subspan(kMarkerBytes); tables.size() >= 2 * kMarkerBytes;) {
    constexpr std::byte kQuant{0xDB}, kHuffman{0xC4}, kComment{0xFE};
    const bool known =
        is_marker(tables, kQuant) || is_marker(tables, kHuffman) || is_marker(tables, kComment);
    const std::size_t bytes = kMarkerBytes + (std::to_integer<std::size_t>(tables[2]) << 8 |
                                              std::to_integer<std::size_t>(tables[3]));
    if (!known || bytes < 2 * kMarkerBytes || bytes > tables.size()) return false;
    tables = tables.subspan(bytes);
  }
  return tables.size() == kMarkerBytes && is_marker(tables, kEnd);
}

bool may_bring_jpeg_tables(std::span<const std::byte> stream) noexcept {
  using namespace std::string_view_literals;
  const std::string_view bytes(reinterpret_cast<const char*>(stream.data()), stream.size());
  return bytes.find("\xFF\xDB"sv) != bytes.npos || bytes.find("\xFF\xC4"sv) != bytes.npos;
}

std::int64_t whole_jpeg_bytes(std::span<const std::byte> tables, std::int64_t block_bytes) noexcept {
  return block_bytes == 0 ? 0 : block_bytes + static_cast<std::int64_t>(added_bytes(tables));
}

std::span<std::byte> place_in_jpeg(std::span<const std::byte> tables, std::span<std::byte> stream) noexcept {
  return stream.subspan(added_bytes(tables));
}

void put_jpeg_tables(std::span<const std::byte> tables, std::span<std::byte> stream) noexcept {
  if (!is_marker(place_in_jpeg(tables, stream), kBegin)) {
    std::ranges::fill(stream, std::byte{});
  } else if (!tables.empty()) {
    std::ranges::copy(tables.first(tables.size() - kMarkerBytes), stream.begin());
  }
}

}  // namespace sepconv
