#include "io/tiff/jpeg_stream.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace sepconv {
namespace {

constexpr std::byte kMarkerPrefix{0xFF}, kStartOfImage{0xD8}, kEndOfImage{0xD9};  // ITU-T T.81, table B.1
constexpr std::size_t kMarkerBytes = 2;

bool is_marker(std::span<const std::byte> bytes, std::byte code) noexcept {
  return bytes.size() >= kMarkerBytes && bytes[0] == kMarkerPrefix && bytes[1] == code;
}

/// Bytes that tables add to a block: both begin with a start marker, of which one is dropped, and the end
/// marker of the tables is dropped.
std::size_t added_bytes(std::span<const std::byte> tables) noexcept {
  return tables.empty() ? 0 : tables.size() - 2 * kMarkerBytes;
}

struct FrameScan {
  std::optional<JpegFrame> frame;
  std::size_t next = 0;  ///< otherwise where to continue; 0 if no segment is valid
};

/// Follows the segments while `bytes` contains the beginning of one.
FrameScan find_frame(std::span<const std::byte> bytes, std::size_t position) noexcept {
  const auto u8 = [&](std::size_t offset) { return std::to_integer<int>(bytes[offset]); };
  const auto u16 = [&](std::size_t offset) { return u8(offset) << 8 | u8(offset + 1); };
  while (position + 9 < bytes.size()) {
    const int marker = u8(position + 1);
    if (u8(position) != 0xFF) return {};
    const bool is_frame =
        marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
    if (is_frame) return {JpegFrame{marker, u8(position + 4), {u16(position + 5), u16(position + 7)}}, 0};
    const bool is_fill = marker == 0xFF;
    position += is_fill ? 1 : kMarkerBytes + static_cast<std::size_t>(u16(position + 2));
  }
  return {{}, position};
}

}  // namespace

std::optional<JpegFrame> jpeg_frame(std::span<const std::byte> stream) noexcept {
  return find_frame(stream, kMarkerBytes).frame;
}

std::optional<JpegFrame> jpeg_frame(const InputFile& file, std::int64_t offset, std::int64_t bytes) {
  std::array<std::byte, 4096> part;
  auto position = static_cast<std::int64_t>(kMarkerBytes);
  for (int reads = 0; reads < kMaxFrameReads && position < bytes; ++reads) {
    const auto chunk = std::span(part).first(
        static_cast<std::size_t>(std::min<std::int64_t>(std::ssize(part), bytes - position)));
    file.read_at(offset + position, chunk);
    const FrameScan scan = find_frame(chunk, 0);
    if (scan.frame || scan.next == 0) return scan.frame;
    position += static_cast<std::int64_t>(scan.next);
  }
  return std::nullopt;
}

bool are_plain_jpeg_tables(std::span<const std::byte> tables) noexcept {
  if (tables.empty()) return true;
  if (!is_marker(tables, kStartOfImage)) return false;
  for (tables = tables.subspan(kMarkerBytes); tables.size() >= 2 * kMarkerBytes;) {
    constexpr std::byte kQuant{0xDB}, kHuffman{0xC4}, kComment{0xFE};
    const bool known =
        is_marker(tables, kQuant) || is_marker(tables, kHuffman) || is_marker(tables, kComment);
    const std::size_t bytes = kMarkerBytes + (std::to_integer<std::size_t>(tables[2]) << 8 |
                                              std::to_integer<std::size_t>(tables[3]));
    if (!known || bytes < 2 * kMarkerBytes || bytes > tables.size()) return false;
    tables = tables.subspan(bytes);
  }
  return tables.size() == kMarkerBytes && is_marker(tables, kEndOfImage);
}

bool may_define_jpeg_tables(std::span<const std::byte> stream) noexcept {
  using namespace std::string_view_literals;
  const std::string_view bytes(reinterpret_cast<const char*>(stream.data()), stream.size());
  return bytes.find("\xFF\xDB"sv) != bytes.npos || bytes.find("\xFF\xC4"sv) != bytes.npos;
}

std::int64_t complete_jpeg_bytes(std::span<const std::byte> tables, std::int64_t block_bytes) noexcept {
  return block_bytes == 0 ? 0 : block_bytes + static_cast<std::int64_t>(added_bytes(tables));
}

std::span<std::byte> block_in_jpeg(std::span<const std::byte> tables, std::span<std::byte> stream) noexcept {
  return stream.subspan(added_bytes(tables));
}

void put_jpeg_tables(std::span<const std::byte> tables, std::span<std::byte> stream) noexcept {
  if (!is_marker(block_in_jpeg(tables, stream), kStartOfImage)) {
    std::ranges::fill(stream, std::byte{});
  } else if (!tables.empty()) {
    std::ranges::copy(tables.first(tables.size() - kMarkerBytes), stream.begin());
  }
}

}  // namespace sepconv
