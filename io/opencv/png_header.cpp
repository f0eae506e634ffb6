// PNG: https://www.w3.org/TR/png/ (11.2.1 IHDR, 11.3.1 tRNS)
#include <fmt/format.h>

#include "sepconv/io/opencv/header_bytes.hpp"
#include "sepconv/io/opencv/image_header.hpp"

namespace sepconv::detail {
namespace {

constexpr std::uint32_t chunk_name(const char (&name)[5]) {
  return static_cast<std::uint32_t>(name[0]) << 24 | static_cast<std::uint32_t>(name[1]) << 16 |
         static_cast<std::uint32_t>(name[2]) << 8 | static_cast<std::uint32_t>(name[3]);
}

/// Follows the chunks to the end of the image, so that a truncated file is known before it is decoded.
/// Returns whether there is a tRNS chunk, which makes a palette or RGB image one with alpha; it comes before
/// the pixels.
bool scan_chunks(const InputFile& file) {
  constexpr std::int64_t after_header = 8 + 25;  // signature and IHDR with its length, name and checksum
  bool transparency = false;
  bool pixels = false;
  for (std::int64_t offset = after_header;;) {
    const HeaderBytes<8> chunk(file, offset);
    const std::uint32_t name = chunk.big32(4);
    if (name == chunk_name("tRNS") && !pixels) transparency = true;
    if (name == chunk_name("IDAT")) pixels = true;
    offset += 12 + std::int64_t{chunk.big32(0)};
    require_bytes(file, offset);
    if (name == chunk_name("IEND")) break;
  }
  if (!pixels)
    throw_header_error(file, "it holds no pixels (no IDAT chunk); the file is damaged, copy it anew");
  return transparency;
}

}  // namespace

void read_png_header(const InputFile& file, ImageHeader& header) {
  const HeaderBytes<29> bytes(file, 0);
  if (bytes.big32(8) != 13 || bytes.big32(12) != chunk_name("IHDR")) {
    throw_header_error(file, "its first PNG chunk is no IHDR; the file is damaged, copy it anew");
  }
  header.spec.extent = {bytes.big32(20), bytes.big32(16)};
  check_extent(file, header.spec.extent);
  const std::uint32_t depth = bytes.u8(24);
  enum : std::uint32_t { grey = 0, rgb = 2, palette = 3, grey_alpha = 4, rgb_alpha = 6 };
  const std::uint32_t colour = bytes.u8(25);
  const bool known = depth == 8 || (depth == 16 && colour != palette) ||
                     ((depth == 1 || depth == 2 || depth == 4) && (colour == grey || colour == palette));
  if (!known ||
      (colour != grey && colour != rgb && colour != palette && colour != grey_alpha && colour != rgb_alpha)) {
    throw_header_error(
        file, fmt::format("PNG has no colour type {} of {} bits; the file is damaged, copy it anew", colour,
                          depth));
  }
  header.spec.type = depth == 16 ? PixelType::u16 : PixelType::u8;
  const bool transparency = scan_chunks(file);
  switch (colour) {
    case grey:
      header.spec.channels = 1;
      break;
    case grey_alpha:
    case rgb_alpha:
      header.spec.channels = 4;
      break;
    default:
      header.spec.channels = transparency ? 4 : 3;
  }
  header.storage = colour == palette      ? "palette"
                   : colour == grey_alpha ? "grey with alpha"
                   : depth < 8            ? "less than 8 bits"
                   : bytes.u8(28) != 0    ? "interlaced"
                                          : "";
}

}  // namespace sepconv::detail
