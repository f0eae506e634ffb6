// JPEG: ITU-T T.81, annex B (markers and frame headers)
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "sepconv/io/opencv/header_bytes.hpp"
#include "sepconv/io/opencv/image_header.hpp"

namespace sepconv::detail {
namespace {

bool is_frame_header(std::uint32_t marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

/// Offset of the frame header's marker (SOF), past all segments before it.
std::int64_t find_frame_header(const InputFile& file) {
  for (std::int64_t offset = 2;;) {
    const HeaderBytes<4> segment(file, offset);
    const std::uint32_t marker = segment.u8(1);
    if (segment.u8(0) != 0xFF || marker == 0xD9 || marker == 0xDA) {
      throw_header_error(file,
                         "no JPEG frame header comes before its pixels; the file is damaged, copy it anew");
    }
    if (is_frame_header(marker)) return offset;
    const bool fill = marker == 0xFF;
    const bool alone = marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7);
    offset += fill ? 1 : alone ? 2 : 2 + std::int64_t{segment.big16(2)};
  }
}

/// Decoders make grey of what is missing and call it done; an image without its end marker is not one.
void require_end_marker(const InputFile& file) {
  constexpr std::int64_t tail_bytes = 65536;  // cameras and editors append to the image
  std::vector<std::byte> tail(static_cast<std::size_t>(std::min(tail_bytes, file.size())));
  file.read_at(file.size() - static_cast<std::int64_t>(tail.size()), tail);
  constexpr std::byte end_marker[] = {std::byte{0xFF}, std::byte{0xD9}};
  if (std::search(tail.begin(), tail.end(), std::begin(end_marker), std::end(end_marker)) == tail.end()) {
    throw_header_error(file, "the JPEG end marker is missing; the file is truncated, copy it anew");
  }
}

}  // namespace

void read_jpeg_header(const InputFile& file, ImageHeader& header) {
  const std::int64_t offset = find_frame_header(file);
  const HeaderBytes<10> frame(file, offset);
  header.spec.extent = {frame.big16(5), frame.big16(7)};
  check_extent(file, header.spec.extent);
  const std::uint32_t precision = frame.u8(4);
  const std::uint32_t components = frame.u8(9);
  if (precision != 8 || (components != 1 && components != 3 && components != 4)) {
    throw_header_error(
        file,
        fmt::format(
            "JPEG of {} bits and {} components is not read, only 8 bits and 1, 3 or 4; convert it to TIFF",
            precision, components));
  }
  header.spec.channels = components == 1 ? 1 : 3;  // CMYK is decoded to RGB
  header.spec.type = PixelType::u8;
  require_end_marker(file);
  if (frame.u8(1) == 0xC2) {
    header.storage = "progressive";
    // libjpeg holds all coefficients, two bytes each, in whole blocks of up to 32 x 32 pixels.
    const auto [rows, cols] = header.spec.extent;
    header.decoder_bytes = 2 * components * round_up(rows, 32) * round_up(cols, 32);
  }
}

}  // namespace sepconv::detail
