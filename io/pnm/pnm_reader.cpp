#include <fmt/format.h>

#include <bit>
#include <string_view>
#include <utility>
#include <vector>

#include "io/buffered_image.hpp"
#include "io/file_errors.hpp"
#include "io/pnm/pnm.hpp"
#include "io/pnm/pnm_header.hpp"

namespace sepconv {
namespace {

/// In PBM 1 is black.
std::uint8_t grey_of(bool bit) { return bit ? 0 : 255; }

template <class T>
void decode_text(const InputFile& file, const PnmHeader& header, const PixelView& out) {
  const PnmScale scale(file.path(), header);
  InputBytes bytes(file, header.pixels_offset);
  PnmText text(bytes);
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    T* const values = out.row<T>(row);
    for (std::int64_t i = 0; i < out.row_elements(); ++i) {
      values[i] = static_cast<T>(header.bits() ? grey_of(text.bit()) : scale(text.number(), row));
    }
  }
}

void decode_bits(const InputFile& file, const PnmHeader& header, const PixelView& out) {
  InputBytes bytes(file, header.pixels_offset);
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    auto* const values = out.row<std::uint8_t>(row);
    std::byte packed{};
    for (std::int64_t col = 0; col < out.extent.cols; ++col) {
      if (col % 8 == 0) bytes.read({&packed, 1});
      values[col] = grey_of((std::to_integer<int>(packed) >> (7 - col % 8) & 1) != 0);
    }
  }
}

std::uint16_t from_big_endian(std::uint8_t value) { return value; }
std::uint16_t from_big_endian(std::uint16_t value) {
  return std::endian::native == std::endian::big ? value : __builtin_bswap16(value);
}

template <class T>
void decode_binary(const InputFile& file, const PnmHeader& header, const PixelView& out) {
  file.read_at(header.pixels_offset, {out.data, static_cast<std::size_t>(header.spec.bytes())});
  if (header.greatest == 255) return;
  const PnmScale scale(file.path(), header);
  for (std::int64_t row = 0; row < out.extent.rows; ++row) {
    T* const values = out.row<T>(row);
    for (std::int64_t i = 0; i < out.row_elements(); ++i)
      values[i] = static_cast<T>(scale(from_big_endian(values[i]), row));
  }
}

void decode_pnm(const InputFile& file, const PnmHeader& header, const PixelView& out) {
  const bool wide = header.spec.type == PixelType::u16;
  if (header.text()) {
    wide ? decode_text<std::uint16_t>(file, header, out) : decode_text<std::uint8_t>(file, header, out);
  } else if (header.bits()) {
    decode_bits(file, header, out);
  } else {
    wide ? decode_binary<std::uint16_t>(file, header, out) : decode_binary<std::uint8_t>(file, header, out);
  }
}

/// Whether another image follows the first: binary files may contain several.
bool has_next_image(const InputFile& file, const PnmHeader& header) {
  if (header.text()) return false;
  std::byte head[8];
  const std::int64_t end = header.pixels_offset + header.spec.extent.rows * header.stored_row_bytes();
  const std::int64_t count = file.read_some_at(end, head);
  return is_pnm(std::span(head).first(static_cast<std::size_t>(count)));
}

}  // namespace

bool is_pnm(std::span<const std::byte> head) noexcept {
  return head.size() >= 3 && head[0] == std::byte{'P'} && head[1] >= std::byte{'1'} &&
         head[1] <= std::byte{'6'} &&
         std::string_view(" \t\r\n#").find(std::to_integer<char>(head[2])) != std::string_view::npos;
}

std::unique_ptr<Reader> open_pnm(InputFile file, const OpenOptions&) {
  constexpr std::int64_t decoder_bytes = std::int64_t{1} << 20;  // stream buffer and scaling table
  const PnmHeader header = read_pnm_header(file);
  BufferedSource source;
  source.spec = header.spec;
  source.description = fmt::format("PNM, {}", header.text() ? "text" : header.bits() ? "bits" : "binary");
  source.decoder_bytes = decoder_bytes;
  if (!header.bits() && header.greatest != header.type_limit()) {
    source.warnings.push_back(
        fmt::format("values of 0 to {} are scaled to 0 to {}", header.greatest, header.type_limit()));
  }
  if (has_next_image(file, header)) source.warnings.emplace_back("further images in the file are left out");
  return make_buffered_reader(
      std::move(file), std::move(source),
      [header](const InputFile& from, const PixelView& out) { decode_pnm(from, header, out); });
}

}  // namespace sepconv
