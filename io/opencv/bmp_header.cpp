// BMP: BITMAPCOREHEADER and BITMAPINFOHEADER with its longer successors
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>

#include "sepconv/io/byte_order.hpp"
#include "sepconv/io/byte_stream.hpp"
#include "sepconv/io/file_errors.hpp"
#include "sepconv/io/held_image.hpp"
#include "sepconv/io/opencv/bmp.hpp"
#include "sepconv/io/per_metre.hpp"

namespace sepconv {
namespace {

// OpenCV's own bounds (modules/imgcodecs/src/loadsave.cpp: CV_IO_MAX_IMAGE_WIDTH, _HEIGHT and _PIXELS).
constexpr std::int64_t kMostSide = std::int64_t{1} << 20;
constexpr std::int64_t kMostPixels = std::int64_t{1} << 30;

constexpr std::int64_t kFileHeaderBytes = 14;
/// BITMAPINFOHEADER, with masks, with alpha, of OS/2, and its versions 4 and 5.
constexpr std::int64_t kInfoBytes[] = {40, 52, 56, 64, 108, 124};
enum Compression : std::uint32_t { rgb = 0, rle8 = 1, rle4 = 2, bit_fields = 3 };

/// N bytes of a file from an offset on, read as numbers. Throws IoError when the file ends before.
template <std::size_t N>
class HeaderBytes {
 public:
  HeaderBytes(const InputFile& file, std::int64_t offset) { file.read_at(offset, bytes_); }

  std::uint32_t u8(std::size_t at) const { return number(at, 1); }
  std::uint32_t little16(std::size_t at) const { return number(at, 2); }
  std::uint32_t little32(std::size_t at) const { return number(at, 4); }

 private:
  std::uint32_t number(std::size_t at, std::size_t bytes) const {
    return static_cast<std::uint32_t>(number_in(std::span(bytes_).subspan(at, bytes), false));
  }

  std::array<std::byte, N> bytes_{};
};

struct BmpFields {
  std::int64_t pixels_offset = 0;
  std::int64_t palette_offset = 0;
  std::int64_t palette_entry_bytes = 4;
  std::int64_t palette_entries = 0;
  Extent extent;
  std::uint32_t bits = 0;  ///< per pixel
  std::uint32_t compression = rgb;
  PerMetre resolution;
  bool has_alpha = false;
};

/// The masks of 32 bits lie behind the 40 bytes of the header, or are its next ones; only the longer headers have one for alpha.
void read_masks(const InputFile& file, std::int64_t info_bytes, BmpFields& bmp) {
  constexpr std::int64_t usual_bytes = 40;
  constexpr std::int64_t bytes_with_alpha = 56;
  const HeaderBytes<16> masks(file, kFileHeaderBytes + usual_bytes);
  bmp.has_alpha = info_bytes >= bytes_with_alpha && masks.little32(12) != 0;
  const auto mask_of_byte = [](std::uint32_t byte) { return 0xFFu << 8 * byte; };
  const bool usual = masks.little32(0) == mask_of_byte(2) && masks.little32(4) == mask_of_byte(1) &&
                     masks.little32(8) == mask_of_byte(0) && (!bmp.has_alpha || masks.little32(12) == mask_of_byte(3));
  if (usual) return;
  throw_read_error(file.path(), fmt::format("BMP of 32 bits with masks {:08x} {:08x} {:08x} is not read, only blue, green, red and alpha in this order; "
                                            "convert it to PNG", masks.little32(0), masks.little32(4), masks.little32(8)));
}

BmpFields parse(const InputFile& file) {
  const HeaderBytes<18> head(file, 0);
  BmpFields bmp;
  bmp.pixels_offset = head.little32(10);
  const std::int64_t info_bytes = head.little32(14);
  bmp.palette_offset = kFileHeaderBytes + info_bytes;
  if (info_bytes == 12) {
    const HeaderBytes<12> core(file, kFileHeaderBytes);
    bmp.extent = {core.little16(6), core.little16(4)};
    bmp.bits = core.little16(10);
    bmp.palette_entry_bytes = 3;
  } else if (std::ranges::find(kInfoBytes, info_bytes) != std::end(kInfoBytes)) {
    const HeaderBytes<40> info(file, kFileHeaderBytes);
    // A negative number of rows means that the topmost comes first.
    bmp.extent = {std::llabs(static_cast<std::int32_t>(info.little32(8))),
                  static_cast<std::int32_t>(info.little32(4))};
    bmp.bits = info.little16(14);
    bmp.compression = info.little32(16);
    bmp.resolution = {info.little32(24), info.little32(28)};
    bmp.palette_entries = info.little32(32);
    if (bmp.bits == 32 && bmp.compression == bit_fields) read_masks(file, info_bytes, bmp);
  } else {
    throw_read_error(file.path(),
                     fmt::format("a BMP header of {} bytes is not known; convert it to PNG", info_bytes));
  }
  if (bmp.bits <= 8 && bmp.palette_entries == 0) bmp.palette_entries = std::int64_t{1} << bmp.bits;
  return bmp;
}

/// OpenCV makes one channel of a palette of greys and three of any other.
bool palette_has_colour(const InputFile& file, const BmpFields& bmp) {
  for (std::int64_t entry = 0; entry < bmp.palette_entries; ++entry) {
    const HeaderBytes<3> colour(file, bmp.palette_offset + entry * bmp.palette_entry_bytes);
    if (colour.u8(0) != colour.u8(1) || colour.u8(0) != colour.u8(2)) return true;
  }
  return false;
}

bool is_known(const BmpFields& bmp) {
  switch (bmp.compression) {
    case rgb:
      return bmp.bits == 1 || bmp.bits == 4 || bmp.bits == 8 || bmp.bits == 16 || bmp.bits == 24 ||
             bmp.bits == 32;
    case rle8:
      return bmp.bits == 8;
    case rle4:
      return bmp.bits == 4;
    case bit_fields:
      return bmp.bits == 16 || bmp.bits == 32;
    default:
      return false;
  }
}

void check_extent(const InputFile& file, Extent extent) {
  if (extent.empty()) {
    throw_read_error(file.path(),
                     fmt::format("its header claims {} rows of {} pixels; the file is damaged, copy it anew",
                                 extent.rows, extent.cols));
  }
  if (extent.rows > kMostSide || extent.cols > kMostSide || extent.area() > kMostPixels) {
    throw_read_error(
        file.path(),
        fmt::format("{} rows of {} pixels are more than OpenCV decodes (sides up to 2^20, 2^30 pixels); "
                    "convert it to TIFF",
                    extent.rows, extent.cols));
  }
}

void require_bytes(const InputFile& file, std::int64_t bytes) {
  if (file.size() >= bytes) return;
  throw_read_error(file.path(),
                   fmt::format("its header needs {} bytes and the file has {}; it is truncated, copy it anew",
                               bytes, file.size()));
}

/// Follows the runs to their end: OpenCV prints where the file ends before, and leaves pixels that are
/// missing as they were.
void check_runs(const InputFile& file, const BmpFields& bmp) {
  InputBytes bytes(file, bmp.pixels_offset);
  const auto next = [&] {
    const int byte = bytes.get();
    if (byte < 0)
      throw_read_error(file.path(), "its runs of pixels have no end; it is truncated, copy it anew");
    return std::int64_t{byte};
  };
  enum : std::int64_t { end_of_row = 0, end_of_image = 1, move = 2 };
  std::int64_t row = 0;
  std::int64_t col = 0;
  while (row < bmp.extent.rows) {
    const std::int64_t count = next();
    const std::int64_t code = next();
    if (count > 0) {
      col += count;
    } else if (code == end_of_row) {
      ++row;
      col = 0;
    } else if (code == end_of_image) {
      break;
    } else if (code == move) {
      col += next();
      row += next();
    } else {  // so many pixels one by one
      col += code;
      bytes.skip(round_up(bmp.compression == rle8 ? code : ceil_div(code, 2), 2));
    }
  }
  // What a row has beyond its end is for no other.
  if (row * bmp.extent.cols + std::min(col, bmp.extent.cols) >= bmp.extent.area()) return;
  throw_read_error(file.path(),
                   fmt::format("its runs of pixels end in row {} of {}; the file is damaged, copy it anew",
                               row, bmp.extent.rows));
}

}  // namespace

BmpHeader read_bmp_header(const InputFile& file) {
  const BmpFields bmp = parse(file);
  check_extent(file, bmp.extent);
  if (!is_known(bmp) || bmp.palette_entries > 256) {
    throw_read_error(file.path(),
                     fmt::format("BMP of {} bits with compression {} is not read; convert it to PNG",
                                 bmp.bits, bmp.compression));
  }
  const std::int64_t channels = bmp.bits <= 8 && !palette_has_colour(file, bmp) ? 1 : bmp.has_alpha ? 4 : 3;
  const bool run_lengths = bmp.compression == rle8 || bmp.compression == rle4;
  const std::int64_t stride_bytes = round_up(ceil_div(bmp.extent.cols * bmp.bits, 8), 4);
  require_bytes(file, bmp.pixels_offset + (run_lengths ? 2 : bmp.extent.rows * stride_bytes));
  if (run_lengths) check_runs(file, bmp);
  // They are signed.
  const auto is_resolution = [](std::uint32_t value) { return value >= 1 && value <= 0x7FFFFFFF; };
  std::optional<Resolution> resolution;
  if (is_resolution(bmp.resolution.x) && is_resolution(bmp.resolution.y)) resolution = per_inch(bmp.resolution);
  return {{bmp.extent, channels, PixelType::u8},
          run_lengths     ? "run lengths"
          : bmp.bits <= 8 ? "palette"
                          : "",
          resolution};
}

}  // namespace sepconv
