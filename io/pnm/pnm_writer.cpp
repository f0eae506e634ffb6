#include <fmt/format.h>

#include <bit>
#include <utility>

#include "io/buffered_image.hpp"
#include "io/byte_stream.hpp"
#include "io/pnm/pnm.hpp"
#include "io/pnm/pnm_header.hpp"
#include "io/sample_conversion.hpp"

namespace sepconv {
namespace {

constexpr BufferedFormat kPgm{"PGM", true, "1", kMaxSide};
constexpr BufferedFormat kPpm{"PPM", true, "3", kMaxSide};

void swap_if_little_endian(const PixelView& image, std::int64_t row) {
  if (std::endian::native == std::endian::little)
    swap_elements(image.type, {image.row_data(row), static_cast<std::size_t>(image.row_bytes())});
}

void encode_pnm(OutputFile& file, const PixelView& image) {
  OutputBytes bytes(file);
  bytes.write(pnm_header({image.extent, image.channels, image.type}));
  for (std::int64_t row = 0; row < image.extent.rows; ++row) {
    swap_if_little_endian(image, row);
    bytes.write({image.row_data(row), static_cast<std::size_t>(image.row_bytes())});
  }
  bytes.flush();
}

}  // namespace

std::unique_ptr<Writer> create_pnm(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options) {
  const BufferedFormat& format = ending_of(path) == ".pgm" ? kPgm : kPpm;
  BufferedPicture picture = make_buffered_picture(path, spec, format, options);
  const std::int64_t pixel_bytes = picture.spec.bytes();
  return make_buffered_writer(path, format, std::move(picture),
                              {.warnings = {}, .encoder_bytes = 2 * kStreamBytes, .min_bytes = pixel_bytes},
                              encode_pnm);
}

}  // namespace sepconv
