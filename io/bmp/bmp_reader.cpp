#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "io/bmp/bmp.hpp"
#include "io/bmp/bmp_header.hpp"
#include "io/bmp/bmp_runs.hpp"
#include "io/buffered_image.hpp"
#include "io/byte_stream.hpp"

namespace sepconv {
namespace {

/// Extracts a value from a pixel by a mask and scales it to 0 to 255: v * 255 / max, rounded half up.
class MaskedValue {
 public:
  explicit MaskedValue(std::uint32_t mask)
      : mask_(mask), shift_(std::countr_zero(mask)), max_(mask >> shift_) {
    constexpr std::uint64_t table_end = 256;
    for (std::uint64_t value = 0; value <= max_ && value < table_end; ++value) scaled_[value] = scale(value);
  }

  std::uint8_t operator()(std::uint32_t pixel) const {
    const std::uint64_t value = (pixel & mask_) >> shift_;
    return max_ < scaled_.size() ? scaled_[value] : scale(value);
  }

 private:
  std::uint8_t scale(std::uint64_t value) const {
    return static_cast<std::uint8_t>((2 * 255 * value + max_) / (2 * max_));
  }

  std::uint32_t mask_;
  int shift_;
  std::uint64_t max_;
  std::array<std::uint8_t, 256> scaled_{};
};

/// Decodes little-endian pixels of 2, 3 or 4 bytes.
template <int kBytes>
void decode_masked_row(const std::byte* in, const std::vector<MaskedValue>& values, std::uint8_t* out,
                       std::int64_t cols) {
  for (std::int64_t col = 0; col < cols; ++col, in += kBytes) {
    std::uint32_t pixel = 0;
    for (int i = 0; i < kBytes; ++i) pixel |= std::to_integer<std::uint32_t>(in[i]) << 8 * i;
    for (const MaskedValue& value : values) *out++ = value(pixel);
  }
}

/// Decodes palette indices of 1, 4 or 8 bits. The leftmost pixel is in the highest bits.
void decode_palette_row(const InputFile& file, const BmpHeader& header, const std::byte* in, std::int64_t row,
                        const PixelView& out) {
  auto* pixel = out.row<std::uint8_t>(row);
  const std::int64_t bits = header.bits;
  const std::int64_t pixels_per_byte = 8 / bits;
  for (std::int64_t col = 0; col < out.extent.cols; ++col, pixel += out.channels) {
    const std::int64_t shift = 8 - bits * (col % pixels_per_byte + 1);
    const std::int64_t index =
        std::to_integer<std::int64_t>(in[col / pixels_per_byte]) >> shift & ((1 << bits) - 1);
    put_bmp_colour(file, header, index, row, pixel);
  }
}

void decode_rows(const InputFile& file, const BmpHeader& header, const PixelView& out) {
  std::vector<MaskedValue> values;
  if (header.bits > 8) {
    for (std::int64_t channel = 0; channel < out.channels; ++channel)
      values.emplace_back(header.masks[static_cast<std::size_t>(channel)]);
  }
  std::vector<std::byte> stored(static_cast<std::size_t>(header.stored_row_bytes()));
  InputBytes bytes(file, header.pixels_offset);
  for (std::int64_t i = 0; i < out.extent.rows; ++i) {
    bytes.read(stored);
    const std::int64_t row = header.top_down ? i : out.extent.rows - 1 - i;
    auto* const pixels = out.row<std::uint8_t>(row);
    if (header.bits <= 8) decode_palette_row(file, header, stored.data(), row, out);
    if (header.bits == 16) decode_masked_row<2>(stored.data(), values, pixels, out.extent.cols);
    if (header.bits == 24) decode_masked_row<3>(stored.data(), values, pixels, out.extent.cols);
    if (header.bits == 32) decode_masked_row<4>(stored.data(), values, pixels, out.extent.cols);
  }
}

std::string_view storage_text(const BmpHeader& header) {
  return header.has_runs() ? ", run lengths" : header.bits <= 8 ? ", palette" : "";
}

/// Whether the colour space of a profile (ICC.1, 7.2) fits this number of channels.
bool is_profile_for(const std::vector<std::byte>& profile, std::int64_t channels) {
  constexpr std::size_t header_bytes = 128;
  constexpr std::size_t colour_space_offset = 16;
  return profile.size() >= header_bytes &&
         std::memcmp(profile.data() + colour_space_offset, channels == 1 ? "GRAY" : "RGB ", 4) == 0;
}

void add_profile(const InputFile& file, const BmpHeader& header, BufferedSource& source) {
  const auto leave_out = [&](std::string_view reason) {
    source.warnings.push_back(fmt::format("the ICC profile {}", reason));
  };
  if (header.linked_profile) return leave_out("is left out: it is in a separate file");
  if (header.profile_bytes == 0) return;
  if (header.profile_bytes > kMaxProfileBytes)
    return leave_out(fmt::format("of {} bytes is left out: it is too large", header.profile_bytes));
  if (header.profile_offset + header.profile_bytes > file.size())
    return leave_out("is left out: the file ends before it does");
  std::vector<std::byte> profile(static_cast<std::size_t>(header.profile_bytes));
  file.read_at(header.profile_offset, profile);
  if (!is_profile_for(profile, source.spec.channels))
    return leave_out("is left out: it is not for these channels");
  source.metadata.icc_profile = std::move(profile);
}

}  // namespace

bool is_bmp(std::span<const std::byte> head) noexcept { return begins_with(head, "BM"); }

std::unique_ptr<Reader> open_bmp(InputFile file, const OpenOptions&) {
  constexpr std::int64_t buffers_bytes = std::int64_t{1} << 20;  // stream buffer, palette, tables
  const BmpHeader header = read_bmp_header(file);
  if (header.has_runs()) check_bmp_runs(file, header);
  BufferedSource source;
  source.spec = header.spec();
  source.description = fmt::format("BMP{}", storage_text(header));
  source.metadata.resolution = header.resolution;
  add_profile(file, header, source);
  source.decoder_bytes = buffers_bytes + (header.has_runs() ? 0 : header.stored_row_bytes());
  return make_buffered_reader(
      std::move(file), std::move(source), [header](const InputFile& from, const PixelView& out) {
        header.has_runs() ? decode_bmp_runs(from, header, out) : decode_rows(from, header, out);
      });
}

}  // namespace sepconv
