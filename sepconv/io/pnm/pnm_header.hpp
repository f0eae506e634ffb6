// What stands before the pixels of a PNM file, and numbers as text, which its pixels may be too.
#pragma once

#include "sepconv/core/image.hpp"
#include "sepconv/io/byte_stream.hpp"

namespace sepconv {

struct PnmHeader {
  char kind = '1';  ///< '1' to '3' are text, '4' to '6' binary: bits, grey, RGB
  ImageSpec spec;
  std::int64_t greatest = 1;  ///< value in the file
  std::int64_t pixels_offset = 0;

  bool text() const noexcept { return kind <= '3'; }
  bool bits() const noexcept { return kind == '1' || kind == '4'; }
  std::int64_t type_limit() const noexcept { return spec.type == PixelType::u16 ? 65535 : 255; }
  std::int64_t stored_row_bytes() const noexcept {
    return bits() ? ceil_div(spec.extent.cols, 8) : spec.row_bytes();
  }
};

/// Throws IoError for a damaged header, and for a file that is too short for what it says.
PnmHeader read_pnm_header(const InputFile& file);

/// Numbers and bits as text: separated by white space, with comments from '#' to the end of the line. Throws
/// IoError.
class PnmText {
 public:
  PnmText(const InputFile& file, std::int64_t offset) : file_(file), bytes_(file, offset) {}

  /// At most 2^31, which stands for all that is more. Takes the white space behind it, without which it may
  /// have lost digits.
  std::int64_t number();
  /// Needs no white space behind it.
  bool bit();
  std::int64_t position() const noexcept { return bytes_.position(); }

 private:
  int get();
  int first_digit();
  [[noreturn]] void truncated() const;
  [[noreturn]] void damaged() const;

  const InputFile& file_;
  InputBytes bytes_;
};

}  // namespace sepconv
