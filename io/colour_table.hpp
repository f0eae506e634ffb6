// The colours as which values of one channel are shown: TIFF's ColorMap, the palette of a PNG or BMP.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sepconv {

struct ColourTable {
  /// 0 to 65535, by value; red, green and blue have one length.
  std::array<std::vector<std::uint16_t>, 3> of{};
  /// The values are numbers of classes, not intensities: a mean of two is none.
  bool classes = false;

  std::size_t size() const noexcept { return of[0].size(); }
  /// As 8 bits, of a value; what the table does not have is its last colour.
  std::array<std::uint8_t, 3> shown(std::size_t value) const;
  friend bool operator==(const ColourTable&, const ColourTable&) = default;
};

/// Greys in even steps: black to white is what every reader shows without a table.
bool is_grey_ramp(const ColourTable& table);
/// The same from white to black.
bool is_inverted_ramp(const ColourTable& table);
inline bool is_plain(const ColourTable& table) { return is_grey_ramp(table) || is_inverted_ramp(table); }

/// Whether values in a row have colours in a row, as a lookup table (LUT) of intensities: all three only rise
/// or only fall, or most of many colours differ little from the one before.
bool looks_like_intensities(const ColourTable& table);

/// For this many values: what is added has the last colour, or of classes black.
ColourTable with_size(ColourTable table, std::size_t size);

/// "classes (12 colours)", "grey ramp".
std::string name_of(const ColourTable& table);

}  // namespace sepconv
