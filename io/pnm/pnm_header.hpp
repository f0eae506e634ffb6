// Reads and writes headers of PNM files, and reads numbers and pixels stored as text.
#pragma once

#include <filesystem>
#include <vector>

#include "core/image.hpp"
#include "io/byte_stream.hpp"

namespace sepconv {

struct PnmHeader {
  char kind = '1';  ///< '1' to '3' are text, '4' to '6' binary: bits, grey, RGB
  ImageSpec spec;
  std::int64_t greatest = 1;  ///< maximum value in the file (maxval)
  std::int64_t pixels_offset = 0;

  bool text() const noexcept { return kind <= '3'; }
  bool bits() const noexcept { return kind == '1' || kind == '4'; }
  std::int64_t type_limit() const noexcept { return spec.type == PixelType::u16 ? 65535 : 255; }
  std::int64_t stored_row_bytes() const noexcept {
    return bits() ? ceil_div(spec.extent.cols, 8) : spec.row_bytes();
  }
};

/// Throws IoError for a damaged header and for a file shorter than its header claims.
PnmHeader read_pnm_header(const InputFile& file);
/// Reads the header at the front of a stream of unknown length. The next bytes are pixels.
PnmHeader read_pnm_header(InputBytes& bytes);

/// Returns the header of a binary file of u8 or u16 with 1 or 3 channels.
std::vector<std::byte> pnm_header(const ImageSpec& spec);

/// Scales values of a file to the whole range of its type: v * limit / maxval, rounded half up.
class PnmScale {
 public:
  PnmScale(std::filesystem::path path, const PnmHeader& header);
  std::uint16_t operator()(std::int64_t value, std::int64_t row) const {
    if (value >= std::ssize(scaled_)) throw_above_maxval(value, row);
    return scaled_[static_cast<std::size_t>(value)];
  }

 private:
  [[noreturn]] void throw_above_maxval(std::int64_t value, std::int64_t row) const;

  std::filesystem::path path_;
  std::vector<std::uint16_t> scaled_;
};

/// Reads numbers and bits stored as text, separated by white space, with comments from '#' to the end of the
/// line. Throws IoError.
class PnmText {
 public:
  explicit PnmText(InputBytes& bytes) : bytes_(bytes) {}

  /// Returns the next number, at most 2^31, which stands for all larger ones. Requires white space after it,
  /// since digits may be missing otherwise.
  std::int64_t number();
  /// Returns the next bit. White space after it is not required.
  bool bit();

 private:
  int get();
  int first_digit();
  [[noreturn]] void truncated() const;
  [[noreturn]] void damaged() const;

  InputBytes& bytes_;
};

}  // namespace sepconv
