#include "io/bmp/bmp_runs.hpp"

#include <fmt/format.h>

#include "io/byte_stream.hpp"
#include "io/file_errors.hpp"

namespace sepconv {
namespace {

class Runs {
 public:
  /// Fills `out` if it has memory.
  Runs(const InputFile& file, const BmpHeader& header, const PixelView& out)
      : file_(file), header_(header), out_(out), bytes_(file, header.pixels_offset) {}

  void follow() {
    while (row_ < header_.extent.rows) {
      const std::int64_t count = next();
      const std::int64_t code = next();
      if (count > 0) {
        put_run(count, code);
      } else if (code == end_of_row) {
        ++row_;
        col_ = 0;
      } else if (code == end_of_image) {
        break;
      } else if (code == move) {
        move_on();
      } else {
        put_each(code);
      }
    }
    const bool whole = row_ * header_.extent.cols + col_ >= header_.extent.area();
    if (!whole) refuse("end in");
  }

 private:
  enum : std::int64_t { end_of_row = 0, end_of_image = 1, move = 2 };

  std::int64_t next() {
    const int byte = bytes_.get();
    if (byte < 0)
      throw_read_error(file_.path(), "its runs of pixels have no end; it is truncated, copy it anew");
    return byte;
  }

  [[noreturn]] void refuse(std::string_view verb) const {
    throw_read_error(file_.path(),
                     fmt::format("its runs of pixels {} row {} of {}; the file is damaged, copy it anew",
                                 verb, row_, header_.extent.rows));
  }

  /// RLE4 has two pixels in a byte, the first in its high half, which take turns.
  std::int64_t index_in(std::int64_t byte, std::int64_t pixel) const {
    if (header_.compression == BmpHeader::rle8) return byte;
    return pixel % 2 == 0 ? byte >> 4 : byte & 15;
  }

  void check_room(std::int64_t count) const {
    if (col_ + count > header_.extent.cols) refuse("leave");
  }

  void put_run(std::int64_t count, std::int64_t byte) {
    check_room(count);
    for (std::int64_t i = 0; i < count; ++i) put(index_in(byte, i));
  }

  /// This many pixels one by one, in an even number of bytes.
  void put_each(std::int64_t count) {
    check_room(count);
    const std::int64_t stored = header_.compression == BmpHeader::rle8 ? count : ceil_div(count, 2);
    std::int64_t byte = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      if (header_.compression == BmpHeader::rle8 || i % 2 == 0) byte = next();
      put(index_in(byte, i));
    }
    if (stored % 2 != 0) next();
  }

  void move_on() {
    const std::int64_t cols = next();
    const std::int64_t rows = next();
    if (row_ + rows >= header_.extent.rows) refuse("leave the image from");
    check_room(cols);
    col_ += cols;
    row_ += rows;
  }

  void put(std::int64_t index) {
    const std::int64_t row = header_.top_down ? row_ : header_.extent.rows - 1 - row_;
    std::uint8_t unused[4];
    put_bmp_colour(file_, header_, index, row,
                   out_.data == nullptr ? unused : out_.row<std::uint8_t>(row) + col_ * out_.channels);
    ++col_;
  }

  const InputFile& file_;
  const BmpHeader& header_;
  PixelView out_;
  InputBytes bytes_;
  std::int64_t row_ = 0;  ///< as stored
  std::int64_t col_ = 0;
};

}  // namespace

void put_bmp_colour(const InputFile& file, const BmpHeader& header, std::int64_t index, std::int64_t row,
                    std::uint8_t* out) {
  if (index >= std::ssize(header.palette)) {
    throw_read_error(file.path(),
                     fmt::format("row {} has colour {} of a palette of {}; the file is damaged, copy it anew",
                                 row, index, header.palette.size()));
  }
  const BmpHeader::Colour& colour = header.palette[static_cast<std::size_t>(index)];
  out[0] = colour[0];
  if (header.has_colour) {
    out[1] = colour[1];
    out[2] = colour[2];
  }
}

void check_bmp_runs(const InputFile& file, const BmpHeader& header) { Runs(file, header, {}).follow(); }

void decode_bmp_runs(const InputFile& file, const BmpHeader& header, const PixelView& out) {
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    auto* pixel = out.row<std::uint8_t>(row);
    for (std::int64_t col = 0; col < out.extent.cols; ++col, pixel += out.channels)
      put_bmp_colour(file, header, 0, row, pixel);
  }
  Runs(file, header, out).follow();
}

}  // namespace sepconv
