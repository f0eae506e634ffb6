// PBM, PGM and PPM, text and binary: https://netpbm.sourceforge.net/doc/pnm.html
#include <algorithm>
#include <array>

#include "sepconv/io/opencv/header_bytes.hpp"
#include "sepconv/io/opencv/image_header.hpp"

namespace sepconv::detail {
namespace {

constexpr std::int64_t kMostNumber = std::int64_t{1} << 31;

/// The numbers of a PNM header: separated by white space, with comments from '#' to the end of the line.
class HeaderNumbers {
 public:
  explicit HeaderNumbers(const InputFile& file) : file_(file) {
    size_ = static_cast<std::size_t>(file.read_some_at(0, bytes_));
  }

  std::int64_t next() {
    while (at_ < size_ && !is_digit()) {
      if (letter() == '#') {
        while (at_ < size_ && letter() != '\n') ++at_;
      } else if (!is_space()) {
        damaged();
      } else {
        ++at_;
      }
    }
    if (at_ >= size_) damaged();
    std::int64_t value = 0;
    for (; at_ < size_ && is_digit(); ++at_) value = std::min(kMostNumber, 10 * value + (letter() - '0'));
    return value;
  }

  /// Where the pixels begin: one white space after the last number.
  std::int64_t end() const { return static_cast<std::int64_t>(at_) + 1; }

 private:
  char letter() const { return std::to_integer<char>(bytes_[at_]); }
  bool is_digit() const { return letter() >= '0' && letter() <= '9'; }
  bool is_space() const { return letter() == ' ' || (letter() >= '\t' && letter() <= '\r'); }
  [[noreturn]] void damaged() const { throw_header_error(file_, "its PNM header is damaged; copy it anew"); }

  const InputFile& file_;
  std::array<std::byte, 4096> bytes_{};
  std::size_t size_ = 0;
  std::size_t at_ = 2;
};

}  // namespace

void read_pnm_header(const InputFile& file, ImageHeader& header) {
  const char kind = static_cast<char>(
      HeaderBytes<2>(file, 0).u8(1));  // '1' to '3' are text, '4' to '6' binary: bits, grey, RGB
  const bool text = kind <= '3';
  const bool bits = kind == '1' || kind == '4';
  HeaderNumbers numbers(file);
  const std::int64_t cols = numbers.next();
  const std::int64_t rows = numbers.next();
  const std::int64_t greatest = bits ? 1 : numbers.next();
  check_extent(file, {rows, cols});
  if (greatest < 1 || greatest > 65535)
    throw_header_error(file, "the greatest value in its PNM header is not in 1 to 65535; copy it anew");

  header.spec = {
      {rows, cols}, kind == '3' || kind == '6' ? 3 : 1, greatest > 255 ? PixelType::u16 : PixelType::u8};
  header.storage = text ? "text" : bits ? "bits" : "binary";
  // A value takes a digit and, but for bits, a space.
  const std::int64_t values = header.spec.extent.area() * header.spec.channels;
  const std::int64_t least_bytes = text   ? (bits ? values : 2 * values - 1)
                                   : bits ? rows * ceil_div(cols, 8)
                                          : header.spec.bytes();
  require_bytes(file, numbers.end() + least_bytes);
}

}  // namespace sepconv::detail
