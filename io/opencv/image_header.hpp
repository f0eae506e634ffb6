// Size and type of PNG, JPEG, PNM and BMP images from their headers, without OpenCV, so that opening and
// planning decode nothing.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "sepconv/core/image.hpp"
#include "sepconv/io/file.hpp"

namespace sepconv {

enum class SmallFormat : std::uint8_t { png, jpeg, pnm, bmp };
std::string_view name_of(SmallFormat format) noexcept;

/// The format of a file that begins with these bytes (8 suffice), or nothing.
std::optional<SmallFormat> sniff_small_format(std::span<const std::byte> head) noexcept;

/// What OpenCV makes of the file; palettes and bits become what it expands them to.
struct ImageHeader {
  SmallFormat format = SmallFormat::png;
  ImageSpec spec;
  std::string_view storage;        ///< "8-bit palette", "progressive", ...; may be empty
  std::int64_t decoder_bytes = 0;  ///< bound of what the codec holds beside the image
};

/// Throws IoError: damaged or truncated header, a variant that is not read, a size that OpenCV refuses.
ImageHeader read_image_header(const InputFile& file, SmallFormat format);

namespace detail {
// One per format: fills spec, storage and decoder_bytes. Throw IoError.
void read_png_header(const InputFile& file, ImageHeader& header);
void read_jpeg_header(const InputFile& file, ImageHeader& header);
void read_pnm_header(const InputFile& file, ImageHeader& header);
void read_bmp_header(const InputFile& file, ImageHeader& header);

[[noreturn]] void throw_header_error(const InputFile& file, std::string_view fact);
/// Throws for sides that are not positive or that OpenCV refuses.
void check_extent(const InputFile& file, Extent extent);
/// Throws unless the file has this many bytes.
void require_bytes(const InputFile& file, std::int64_t bytes);
}  // namespace detail

}  // namespace sepconv
