#include "io/bmp/bmp_runs.hpp"

#include <fmt/format.h>

#include "io/byte_stream.hpp"
#include "io/file_errors.hpp"

namespace sepconv {
namespace {

class RunDecoder {
 public:
  /// Fills `out` unless its data pointer is null.
  RunDecoder(const InputFile& file, const BmpHeader& header, const PixelView& out)
      : file_(file), header_(header), out_(out), bytes_(file, header.pixels_offset) {}

  void decode() {
    while (row_ < header_.extent.rows) {
      const std::int64_t count = next_byte();
      const std::int64_t code = next_byte();
      if (count > 0) {
        put_run(count, code);
      } else if (code == end_of_row) {
        ++row_;
        col_ = 0;
      } else if (code == end_of_image) {
        break;
      } else if (code == delta) {
        skip_by_delta();
      } else {
        put_literals(code);
      }
    }
    const bool complete = row_ * header_.extent.cols + col_ >= header_.extent.area();
    if (!complete) refuse("end in");
  }

 private:
  enum : std::int64_t { end_of_row = 0, end_of_image = 1, delta = 2 };

  std::int64_t next_byte() {
    const int byte = bytes_.get();
    if (byte < 0)
      throw_read_error(file_.path(), "its run-length data end too early; it is truncated, copy it again");
    return byte;
  }

  [[noreturn]] void refuse(std::string_view action) const {
    throw_read_error(file_.path(),
                     fmt::format("its runs of pixels {} row {} of {}; the file is damaged, copy it again",
                                 action, row_, header_.extent.rows));
  }

  /// RLE4 has two pixels in a byte, which alternate within a run. The first is in the high half.
  std::int64_t index_in(std::int64_t byte, std::int64_t pixel) const {
    if (header_.compression == BmpHeader::rle8) return byte;
    return pixel % 2 == 0 ? byte >> 4 : byte & 15;
  }

  void check_fits(std::int64_t count) const {
    if (col_ + count > header_.extent.cols) refuse("leave");
  }

  void put_run(std::int64_t count, std::int64_t byte) {
    check_fits(count);
    for (std::int64_t i = 0; i < count; ++i) put_pixel(index_in(byte, i));
  }

  /// Decodes `count` literal pixels, padded to an even number of bytes.
  void put_literals(std::int64_t count) {
    check_fits(count);
    const std::int64_t byte_count = header_.compression == BmpHeader::rle8 ? count : ceil_div(count, 2);
    std::int64_t byte = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (header_.compression == BmpHeader::rle8 || i % 2 == 0) byte = next_byte();
      put_pixel(index_in(byte, i));
    }
    if (byte_count % 2 != 0) next_byte();
  }

  void skip_by_delta() {
    const std::int64_t cols = next_byte();
    const std::int64_t rows = next_byte();
    if (row_ + rows >= header_.extent.rows) refuse("leave the image from");
    check_fits(cols);
    col_ += cols;
    row_ += rows;
  }

  void put_pixel(std::int64_t index) {
    const std::int64_t row = header_.top_down ? row_ : header_.extent.rows - 1 - row_;
    std::uint8_t ignored[4];
    put_bmp_colour(file_, header_, index, row,
                   out_.data == nullptr ? ignored : out_.row<std::uint8_t>(row) + col_ * out_.channels);
    ++col_;
  }

  const InputFile& file_;
  const BmpHeader& header_;
  PixelView out_;
  InputBytes bytes_;
  std::int64_t row_ = 0;  ///< in stored order
  std::int64_t col_ = 0;
};

}  // namespace

void put_bmp_colour(const InputFile& file, const BmpHeader& header, std::int64_t index, std::int64_t row,
                    std::uint8_t* out) {
  if (index >= std::ssize(header.palette)) {
    throw_read_error(
        file.path(),
        fmt::format("row {} has colour {} of a palette of {}; the file is damaged, copy it again", row, index,
                    header.palette.size()));
  }
  const BmpHeader::Colour& colour = header.palette[static_cast<std::size_t>(index)];
  out[0] = colour[0];
  if (header.has_colour) {
    out[1] = colour[1];
    out[2] = colour[2];
  }
}

void check_bmp_runs(const InputFile& file, const BmpHeader& header) { RunDecoder(file, header, {}).decode(); }

void decode_bmp_runs(const InputFile& file, const BmpHeader& header, const PixelView& out) {
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    auto* pixel = out.row<std::uint8_t>(row);
    for (std::int64_t col = 0; col < out.extent.cols; ++col, pixel += out.channels)
      put_bmp_colour(file, header, 0, row, pixel);
  }
  RunDecoder(file, header, out).decode();
}

}  // namespace sepconv
