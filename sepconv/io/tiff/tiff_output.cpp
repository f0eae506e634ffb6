#include "sepconv/io/tiff/tiff_output.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sepconv/io/byte_order.hpp"

namespace sepconv {
namespace {

constexpr bool kBigEndian = std::endian::native == std::endian::big;  // as libtiff writes them

}  // namespace

std::int64_t TiffOutput::directory_in(std::span<const std::byte> header) const {
  return static_cast<std::int64_t>(
      number_in(big_tiff_ ? header.subspan(8, 8) : header.subspan(4, 4), kBigEndian));
}

void TiffOutput::add(std::span<const std::byte> header, std::int64_t end) {
  const std::int64_t directory = directory_in(header);
  const int count_bytes = big_tiff_ ? 8 : 2;
  if (end_ == 0) {
    std::ranges::copy(header, header_.begin());
  } else {
    file_.write_at(last_link_, big_tiff_ ? header.subspan(8, 8) : header.subspan(4, 4));
  }
  std::array<std::byte, 8> entries{};
  const auto count = std::span(entries).first(static_cast<std::size_t>(count_bytes));
  file_.read_some_at(directory, count);
  last_link_ = directory + count_bytes +
               static_cast<std::int64_t>(number_in(count, kBigEndian)) * (big_tiff_ ? 20 : 12);
  end_ = end;
}

void TiffOutput::commit() {
  file_.write_at(0, std::span(header_).first(static_cast<std::size_t>(header_bytes())));
  file_.commit();
}

}  // namespace sepconv
