#include "io/pnm/pnm_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "io/buffered_image.hpp"
#include "io/file_errors.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxNumber = std::int64_t{1} << 31;

bool is_space(int character) { return character == ' ' || (character >= '\t' && character <= '\r'); }
bool is_digit(int character) { return character >= '0' && character <= '9'; }

void check_bytes(const InputFile& file, const PnmHeader& header) {
  const auto [rows, cols] = header.spec.extent;
  // A pixel takes at least one bit. This bound also keeps the products below within 64 bits.
  bool fits = static_cast<double>(rows) * static_cast<double>(cols) <= 8.0 * static_cast<double>(file.size());
  if (fits) {
    // In text a value takes at least a digit and, except for bits, a space.
    const std::int64_t values = header.spec.extent.area() * header.spec.channels;
    const std::int64_t min_bytes = !header.text()  ? rows * header.stored_row_bytes()
                                   : header.bits() ? values
                                                   : 2 * values;
    fits = min_bytes <= file.size() - header.pixels_offset;
  }
  if (fits) return;
  throw_read_error(file.path(),
                   fmt::format("{} x {} pixels do not fit into its {} bytes; it is truncated, copy it again",
                               cols, rows, file.size()));
}

}  // namespace

std::int64_t PnmText::number() {
  int character = first_digit();
  std::int64_t value = 0;
  for (; is_digit(character); character = get()) value = std::min(kMaxNumber, 10 * value + (character - '0'));
  if (character == -1) truncated();
  if (!is_space(character)) damaged();
  return value;
}

bool PnmText::bit() {
  const int digit = first_digit();
  if (digit > '1') damaged();
  return digit == '1';
}

int PnmText::get() {
  int character = bytes_.get();
  if (character == '#') {
    while (character != '\n' && character != '\r' && character != -1) character = bytes_.get();
  }
  return character;
}

int PnmText::first_digit() {
  int character = get();
  while (is_space(character)) character = get();
  if (character == -1) truncated();
  if (!is_digit(character)) damaged();
  return character;
}

void PnmText::truncated() const {
  throw_read_error(bytes_.name(), "the file ends before its last number; it is truncated, copy it again");
}

void PnmText::damaged() const {
  throw_read_error(bytes_.name(),
                   fmt::format("byte {} is not part of a valid number; the file is damaged, copy it again",
                               bytes_.position() - 1));
}

PnmHeader read_pnm_header(InputBytes& bytes) {
  PnmHeader header;
  std::byte magic[2];
  bytes.read(magic);
  header.kind = std::to_integer<char>(magic[1]);
  PnmText text(bytes);
  header.spec.extent.cols = text.number();
  header.spec.extent.rows = text.number();
  if (!header.bits()) header.greatest = text.number();
  header.pixels_offset = bytes.position();
  header.spec.channels = header.kind == '3' || header.kind == '6' ? 3 : 1;
  header.spec.type = header.greatest > 255 ? PixelType::u16 : PixelType::u8;

  const auto [rows, cols] = header.spec.extent;
  if (rows < 1 || cols < 1 || rows > kMaxSide || cols > kMaxSide) {
    throw_read_error(bytes.name(),
                     fmt::format("its header claims {} rows of {} pixels; the file is damaged, copy it again",
                                 rows, cols));
  }
  if (header.greatest < 1 || header.greatest > 65535)
    throw_read_error(
        bytes.name(),
        "the maximum value in its header is not in 1 to 65535; the file is damaged, copy it again");
  return header;
}

PnmHeader read_pnm_header(const InputFile& file) {
  InputBytes bytes(file);
  const PnmHeader header = read_pnm_header(bytes);
  check_bytes(file, header);
  return header;
}

std::vector<std::byte> pnm_header(const ImageSpec& spec) {
  const std::string header = fmt::format("P{}\n{} {}\n{}\n", spec.channels == 1 ? 5 : 6, spec.extent.cols,
                                         spec.extent.rows, spec.type == PixelType::u16 ? 65535 : 255);
  const auto bytes = std::as_bytes(std::span(header));
  return {bytes.begin(), bytes.end()};
}

PnmScale::PnmScale(std::filesystem::path path, const PnmHeader& header) : path_(std::move(path)) {
  for (std::int64_t value = 0; value <= header.greatest; ++value) {
    scaled_.push_back(static_cast<std::uint16_t>((2 * value * header.type_limit() + header.greatest) /
                                                 (2 * header.greatest)));
  }
}

void PnmScale::throw_above_maxval(std::int64_t value, std::int64_t row) const {
  throw_read_error(path_,
                   fmt::format("row {} holds {} where the header says that {} is the maximum value; the "
                               "file is damaged, copy it again",
                               row, value, scaled_.size() - 1));
}

}  // namespace sepconv
