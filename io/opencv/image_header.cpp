#include "sepconv/io/opencv/image_header.hpp"

#include <fmt/format.h>

#include <cstring>

#include "sepconv/core/error.hpp"

namespace sepconv {
namespace {

// OpenCV's own bounds (modules/imgcodecs/src/loadsave.cpp: CV_IO_MAX_IMAGE_WIDTH, _HEIGHT and _PIXELS).
constexpr std::int64_t kMaxSmallSide = std::int64_t{1} << 20;
constexpr std::int64_t kMaxSmallPixels = std::int64_t{1} << 30;

/// What codecs hold however small the image: inflate windows, Huffman tables, rows.
constexpr std::int64_t kCodecBytes = std::int64_t{1} << 20;

}  // namespace

std::string_view name_of(SmallFormat format) noexcept {
  constexpr std::string_view names[] = {"PNG", "JPEG", "PNM", "BMP"};
  return names[static_cast<std::size_t>(format)];
}

std::optional<SmallFormat> sniff_small_format(std::span<const std::byte> head) noexcept {
  const auto begins_with = [head](std::string_view magic) {
    return head.size() >= magic.size() && std::memcmp(head.data(), magic.data(), magic.size()) == 0;
  };
  if (begins_with("\x89PNG\r\n\x1A\n")) return SmallFormat::png;
  if (begins_with("\xFF\xD8\xFF")) return SmallFormat::jpeg;
  if (begins_with("BM")) return SmallFormat::bmp;
  const bool pnm =
      head.size() >= 3 && head[0] == std::byte{'P'} && head[1] >= std::byte{'1'} && head[1] <= std::byte{'6'};
  if (pnm && std::string_view(" \t\r\n#").find(std::to_integer<char>(head[2])) != std::string_view::npos)
    return SmallFormat::pnm;
  return std::nullopt;
}

ImageHeader read_image_header(const InputFile& file, SmallFormat format) {
  ImageHeader header{format, {}, {}, 0};
  switch (format) {
    case SmallFormat::png:
      detail::read_png_header(file, header);
      break;
    case SmallFormat::jpeg:
      detail::read_jpeg_header(file, header);
      break;
    case SmallFormat::pnm:
      detail::read_pnm_header(file, header);
      break;
    case SmallFormat::bmp:
      detail::read_bmp_header(file, header);
      break;
  }
  header.decoder_bytes += kCodecBytes + 8 * header.spec.row_bytes();
  return header;
}

namespace detail {

void check_extent(const InputFile& file, Extent extent) {
  if (extent.empty()) {
    throw_header_error(
        file, fmt::format("its header claims {} rows of {} pixels; the file is damaged, copy it anew",
                          extent.rows, extent.cols));
  }
  if (extent.rows > kMaxSmallSide || extent.cols > kMaxSmallSide || extent.area() > kMaxSmallPixels) {
    throw_header_error(
        file,
        fmt::format("{} rows of {} pixels are more than OpenCV decodes (sides up to 2^20, 2^30 pixels); "
                    "convert it to TIFF",
                    extent.rows, extent.cols));
  }
}

void throw_header_error(const InputFile& file, std::string_view fact) {
  throw IoError(fmt::format("cannot read {}: {}", file.path().native(), fact));
}

void require_bytes(const InputFile& file, std::int64_t bytes) {
  if (file.size() >= bytes) return;
  throw_header_error(
      file, fmt::format("its header needs {} bytes and the file has {}; it is truncated, copy it anew", bytes,
                        file.size()));
}

}  // namespace detail
}  // namespace sepconv
