#include "io/tiff/tiff_colours.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

namespace sepconv {
namespace {

/// Converts to 16 bits: some writers store 8-bit values in ColorMap.
std::vector<std::uint16_t> to_16_bits(std::vector<std::uint16_t> values, bool are_bytes) {
  for (std::uint16_t& value : values) value = static_cast<std::uint16_t>(are_bytes ? 257 * value : value);
  return values;
}

/// Returns null if no readable table exists.
std::optional<ColourTable> read_colours(const TiffHandle& handle, bool are_luts) {
  std::uint16_t photometric = 0, bits = 1, channels = 1, extra = 0, format = SAMPLEFORMAT_UINT;
  const std::uint16_t* ignored = nullptr;
  std::array<const std::uint16_t*, 3> colours{};
  TIFF* const tiff = handle.get();
  TIFFGetFieldDefaulted(tiff, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLESPERPIXEL, &channels);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_SAMPLEFORMAT, &format);
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &extra, &ignored);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  // GDAL can add a table to greys whose pixels are already written, and treats them as a palette.
  const bool may_have = photometric == PHOTOMETRIC_PALETTE || photometric == PHOTOMETRIC_MINISBLACK;
  const bool has_table = may_have && bits <= 16 && format == SAMPLEFORMAT_UINT && channels == extra + 1 &&
                         TIFFGetField(tiff, TIFFTAG_COLORMAP, &colours[0], &colours[1], &colours[2]) != 0;
  if (!has_table) return std::nullopt;
  ColourTable table;
  const std::size_t size = std::size_t{1} << bits;
  bool are_bytes = true;
  for (std::size_t i = 0; i < colours.size(); ++i) {
    table.of[i].assign(colours[i], colours[i] + size);
    are_bytes = are_bytes && std::ranges::max(table.of[i]) < 256;
  }
  for (auto& values : table.of) values = to_16_bits(std::move(values), are_bytes);
  table.classes = !are_luts && !looks_like_intensities(table);
  return table;
}

}  // namespace

void add_colours(const TiffHandle& handle, bool are_luts, Metadata& metadata) {
  std::optional<ColourTable> table = read_colours(handle, are_luts);
  if (!table) return;
  metadata.photometric = is_inverted_ramp(*table) ? Photometric::min_is_white : Photometric::min_is_black;
  const bool is_packed = table->size() != 1 << 8 && table->size() != 1 << 16;
  if (!is_packed || !is_plain(*table)) metadata.colours = std::move(table);
}

void write_colours(const TiffHandle& handle, const Metadata& metadata) {
  std::uint16_t photometric = 0, bits = 8;
  TIFFGetFieldDefaulted(handle.get(), TIFFTAG_BITSPERSAMPLE, &bits);
  if (!metadata.colours || TIFFGetField(handle.get(), TIFFTAG_PHOTOMETRIC, &photometric) == 0 ||
      photometric != PHOTOMETRIC_PALETTE)
    return;
  const ColourTable table = resize_table(*metadata.colours, std::size_t{1} << bits);
  handle.check(TIFFSetField(handle.get(), TIFFTAG_COLORMAP, table.of[0].data(), table.of[1].data(),
                            table.of[2].data()) != 0,
               "cannot store its colour table");
}

}  // namespace sepconv
