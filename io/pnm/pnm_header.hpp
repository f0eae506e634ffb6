// What stands before the pixels of a PNM file, and numbers as text, which its pixels may be too.
#pragma once

#include <filesystem>
#include <vector>

#include "core/image.hpp"
#include "io/byte_stream.hpp"

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
/// The same of bytes that begin so, of which it is not known how many there are; the next are then pixels.
PnmHeader read_pnm_header(InputBytes& bytes);

/// What stands before the binary pixels of an image of u8 or u16 with 1 or 3 channels.
std::vector<std::byte> pnm_header(const ImageSpec& spec);

/// Values of a file spread over all of a type: v * limit / greatest, rounded half up.
class PnmScale {
 public:
  PnmScale(std::filesystem::path path, const PnmHeader& header);
  std::uint16_t operator()(std::int64_t value, std::int64_t row) const {
    if (value >= std::ssize(scaled_)) throw_too_great(value, row);
    return scaled_[static_cast<std::size_t>(value)];
  }

 private:
  [[noreturn]] void throw_too_great(std::int64_t value, std::int64_t row) const;

  std::filesystem::path path_;
  std::vector<std::uint16_t> scaled_;
};

/// Numbers and bits as text: separated by white space, with comments from '#' to the end of the line. Throws
/// IoError.
class PnmText {
 public:
  explicit PnmText(InputBytes& bytes) : bytes_(bytes) {}

  /// At most 2^31, which stands for all that is more. Takes the white space behind it, without which it may
  /// have lost digits.
  std::int64_t number();
  /// Needs no white space behind it.
  bool bit();

 private:
  int get();
  int first_digit();
  [[noreturn]] void truncated() const;
  [[noreturn]] void damaged() const;

  InputBytes& bytes_;
};

}  // namespace sepconv
