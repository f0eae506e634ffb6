#include "io/bmp/bmp_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <string>

#include "io/byte_order.hpp"
#include "io/file_errors.hpp"
#include "io/pixel_density.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kFileHeaderBytes = 14;
constexpr std::int64_t kVersion5Bytes = 124;
/// Header sizes of OS/2 1.x (BITMAPCOREHEADER) and 2.x (OS22XBITMAPHEADER).
constexpr std::int64_t kCoreBytes = 12;
constexpr std::int64_t kOs2Bytes = 64;
/// Header sizes of BITMAPINFOHEADER, of its version with an alpha mask (52: with colour masks), and of
/// version 5 (108: version 4).
constexpr std::int64_t kInfoBytes = 40;
constexpr std::int64_t kAlphaBytes = 56;
constexpr std::int64_t kKnownBytes[] = {kCoreBytes, kInfoBytes,    52, kAlphaBytes, kOs2Bytes,
                                        108,        kVersion5Bytes};
/// Limit for run-length encoding, which may leave out pixels: a few bytes must not announce an image that
/// does not fit into memory.
constexpr std::int64_t kMaxRunPixels = std::int64_t{1} << 30;

/// The fields of the header that follows the file header. Missing fields are 0.
class Fields {
 public:
  explicit Fields(const InputFile& file) {
    file.read_at(0, std::span(bytes_).first(kFileHeaderBytes + 4));
    if (std::ranges::find(kKnownBytes, size()) == std::end(kKnownBytes)) {
      throw_read_error(file.path(),
                       fmt::format("a BMP header of {} bytes is not known; convert it to PNG", size()));
    }
    file.read_at(0, std::span(bytes_).first(static_cast<std::size_t>(kFileHeaderBytes + size())));
  }

  std::int64_t pixels_offset() const { return number(10, 4); }
  std::int64_t size() const { return number(kFileHeaderBytes, 4); }
  bool is_core() const { return size() == kCoreBytes; }
  bool is_os2() const { return size() == kOs2Bytes; }

  std::uint32_t little16(std::int64_t at) const { return number(kFileHeaderBytes + at, 2); }
  std::uint32_t little32(std::int64_t at) const { return number(kFileHeaderBytes + at, 4); }

 private:
  std::uint32_t number(std::int64_t at, std::size_t count) const {
    return static_cast<std::uint32_t>(
        read_unsigned(std::span(bytes_).subspan(static_cast<std::size_t>(at), count), false));
  }

  std::array<std::byte, kFileHeaderBytes + kVersion5Bytes> bytes_{};
};

[[noreturn]] void refuse(const InputFile& file, const std::string& message) {
  throw_read_error(file.path(), message);
}

void check_extent(const InputFile& file, const BmpHeader& header) {
  const auto [rows, cols] = header.extent;
  if (rows < 1 || cols < 1 || rows > kMaxSide || cols > kMaxSide) {
    refuse(file, fmt::format("its header claims {} rows of {} pixels; the file is damaged, copy it again",
                             rows, cols));
  }
  if (header.has_runs() && header.extent.area() > kMaxRunPixels) {
    refuse(file,
           fmt::format(
               "its header claims {} rows of {} pixels, more than the limit for run-length encoding; convert "
               "it to PNG",
               rows, cols));
  }
}

void check_kind(const InputFile& file, const BmpHeader& header, const Fields& fields) {
  const std::uint32_t planes = fields.little16(fields.is_core() ? 8 : 12);
  if (planes != 1)
    refuse(file,
           fmt::format("its header claims {} planes, where BMP has 1; the file is damaged, copy it again",
                       planes));
  const std::uint32_t bits = header.bits;
  using enum BmpHeader::Compression;
  // In an OS/2 header these numbers mean Huffman codes and 24-bit runs.
  const bool is_os2_compression = fields.is_os2() && header.compression >= bit_fields;
  const bool known = header.compression == plain
                         ? bits == 1 || bits == 4 || bits == 8 || bits == 16 || bits == 24 || bits == 32
                     : header.compression == rle8       ? bits == 8
                     : header.compression == rle4       ? bits == 4
                     : header.compression == bit_fields ? (bits == 16 || bits == 32) && !is_os2_compression
                                                        : false;
  if (known) return;
  if (!is_os2_compression && (header.compression == jpeg || header.compression == png)) {
    refuse(file, fmt::format("a {} within a BMP is not read; convert it to PNG",
                             header.compression == jpeg ? "JPEG" : "PNG"));
  }
  refuse(file, fmt::format("BMP of {} bits with compression {}{} is not read; convert it to PNG", bits,
                           header.compression, fields.is_os2() ? " of OS/2" : ""));
}

/// Checks that the pixels begin after the header and palette and are complete.
void check_bytes(const InputFile& file, const BmpHeader& header, std::int64_t head_bytes) {
  if (header.pixels_offset < head_bytes) {
    refuse(file, fmt::format("its pixels begin at byte {}, within its header and palette of {} bytes; the "
                             "file is damaged, copy it again",
                             header.pixels_offset, head_bytes));
  }
  // Divides, since the product of rows and row bytes may overflow 64 bits.
  const std::int64_t remaining = file.size() - header.pixels_offset;
  const bool fits =
      header.has_runs() ? remaining > 0 : remaining / header.stored_row_bytes() >= header.extent.rows;
  if (fits) return;
  refuse(file,
         fmt::format("{} x {} pixels of {} bits from byte {} on do not fit into its {} bytes; it is "
                     "truncated, copy it again",
                     header.extent.cols, header.extent.rows, header.bits, header.pixels_offset, file.size()));
}

void check_masks(const InputFile& file, const BmpHeader& header) {
  std::uint32_t used_bits = header.bits == 16 ? 0xFFFF0000 : 0;
  bool valid = true;
  for (std::size_t i = 0; i < header.masks.size(); ++i) {
    const std::uint32_t mask = header.masks[i];
    const std::uint64_t run = mask == 0 ? 0 : mask >> std::countr_zero(mask);
    const bool is_missing = mask == 0 && i < 3;
    valid = valid && !is_missing && std::popcount(run + 1) == 1 && (used_bits & mask) == 0;
    used_bits |= mask;
  }
  if (valid) return;
  refuse(file, fmt::format("its masks {:08x} {:08x} {:08x} {:08x} do not give each colour separate bits in "
                           "one piece; the file is damaged, copy it again",
                           header.masks[0], header.masks[1], header.masks[2], header.masks[3]));
}

/// Reads the colour masks. Returns their size if they are stored after the header, else 0.
std::int64_t read_masks(const InputFile& file, const Fields& fields, BmpHeader& header) {
  if (header.bits <= 8) return 0;
  if (header.compression != BmpHeader::bit_fields) {
    header.masks = {0xFF0000, 0xFF00, 0xFF, 0};
    if (header.bits == 16) header.masks = {0x7C00, 0x03E0, 0x1F, 0};
    return 0;
  }
  // The masks follow the first 40 bytes, after the header or within a longer one. Only longer headers have an
  // alpha mask.
  std::array<std::byte, 16> bytes{};
  const std::size_t count = fields.size() >= kAlphaBytes ? 16 : 12;
  file.read_at(kFileHeaderBytes + kInfoBytes, std::span(bytes).first(count));
  for (std::size_t i = 0; i < header.masks.size(); ++i)
    header.masks[i] = static_cast<std::uint32_t>(read_unsigned(std::span(bytes).subspan(4 * i, 4), false));
  check_masks(file, header);
  return fields.size() == kInfoBytes ? 12 : 0;
}

void read_palette(const InputFile& file, BmpHeader& header, std::int64_t offset, std::int64_t entries,
                  std::size_t entry_bytes) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(entries) * entry_bytes);
  file.read_at(offset, bytes);
  for (std::size_t at = 0; at < bytes.size(); at += entry_bytes) {
    const auto value = [&](std::size_t i) { return std::to_integer<std::uint8_t>(bytes[at + i]); };
    header.palette.push_back({value(2), value(1), value(0)});
  }
  header.has_colour = std::ranges::any_of(
      header.palette, [](const auto& colour) { return colour[0] != colour[1] || colour[0] != colour[2]; });
}

void read_version_5(const Fields& fields, BmpHeader& header) {
  constexpr std::uint32_t embedded = 0x4D424544;  // "MBED" and "LINK", the first letter highest
  constexpr std::uint32_t linked = 0x4C494E4B;
  const std::uint32_t colour_space = fields.little32(56);
  header.linked_profile = colour_space == linked;
  if (colour_space != embedded) return;
  header.profile_offset = kFileHeaderBytes + std::int64_t{fields.little32(112)};
  header.profile_bytes = fields.little32(116);
}

BmpHeader read_fields(const Fields& fields) {
  BmpHeader header;
  header.pixels_offset = fields.pixels_offset();
  if (fields.is_core()) {
    header.extent = {fields.little16(6), fields.little16(4)};
    header.bits = fields.little16(10);
    return header;
  }
  const std::int64_t rows = static_cast<std::int32_t>(fields.little32(8));
  header.top_down = rows < 0;
  header.extent = {std::llabs(rows), static_cast<std::int32_t>(fields.little32(4))};
  header.bits = fields.little16(14);
  header.compression = fields.little32(16);
  const PixelDensity stored{fields.little32(24), fields.little32(28)};
  // The fields are signed integers.
  const auto is_resolution = [](std::uint32_t value) { return value >= 1 && value <= 0x7FFFFFFF; };
  if (is_resolution(stored.x) && is_resolution(stored.y)) header.resolution = per_inch(stored);
  if (fields.size() == kVersion5Bytes) read_version_5(fields, header);
  return header;
}

}  // namespace

BmpHeader read_bmp_header(const InputFile& file) {
  const Fields fields(file);
  BmpHeader header = read_fields(fields);
  check_kind(file, header, fields);
  check_extent(file, header);
  const std::int64_t palette_offset = kFileHeaderBytes + fields.size() + read_masks(file, fields, header);
  const std::size_t entry_bytes = fields.is_core() ? 3 : 4;
  const std::int64_t max_entries = header.bits <= 8 ? std::int64_t{1} << header.bits : 0;
  // Above 8 bits a palette is only a hint for old displays and is not read.
  std::int64_t entries = fields.is_core() ? 0 : fields.little32(32);
  if (entries == 0) entries = max_entries;
  check_bytes(file, header, palette_offset + entries * static_cast<std::int64_t>(entry_bytes));
  if (max_entries > 0)
    read_palette(file, header, palette_offset, std::min(entries, max_entries), entry_bytes);
  return header;
}

}  // namespace sepconv
