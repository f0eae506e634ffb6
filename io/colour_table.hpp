// Colour tables of single-channel images: TIFF's ColorMap, the palette of a PNG or BMP.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sepconv {

struct ColourTable {
  /// Red, green and blue from 0 to 65535, by value; equal lengths.
  std::array<std::vector<std::uint16_t>, 3> of{};
  /// The values are class numbers, not intensities, so that they must not be averaged.
  bool classes = false;

  std::size_t size() const noexcept { return of[0].size(); }
  /// The 8-bit colour of a value. Values beyond the table have its last colour.
  std::array<std::uint8_t, 3> shown(std::size_t value) const;
  friend bool operator==(const ColourTable&, const ColourTable&) = default;
};

/// Whether the greys rise evenly from black to white, as readers assume without a table.
bool is_grey_ramp(const ColourTable& table);
/// Whether the greys fall evenly from white to black.
bool is_inverted_ramp(const ColourTable& table);
inline bool is_plain(const ColourTable& table) { return is_grey_ramp(table) || is_inverted_ramp(table); }

/// Whether the table is a lookup table (LUT) of intensities: all three channels only rise or only fall, or
/// neighbours of a table with many colours mostly differ little.
bool looks_like_intensities(const ColourTable& table);

/// Returns the table with `size` entries. New entries repeat the last colour, or are black for classes.
ColourTable resize_table(ColourTable table, std::size_t size);

/// Returns a description such as "classes (12 colours)" or "grey ramp".
std::string name_of(const ColourTable& table);

}  // namespace sepconv
