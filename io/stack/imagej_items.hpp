// ImageJ's own metadata besides its description: the TIFF tags 50838 (lengths) and 50839 (a header, and items
// one behind the other), as its class TiffDecoder has them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

inline constexpr std::uint32_t kImagejLengths = 50838, kImagejItems = 50839;

/// None where the tags contradict each other.
std::vector<ImagejItem> read_imagej_items(std::span<const std::uint32_t> lengths,
                                          std::span<const std::byte> bytes);
/// What the two tags hold, in native byte order.
std::pair<std::vector<std::uint32_t>, std::vector<std::byte>> stored_imagej_items(
    const std::vector<ImagejItem>& items);

/// Leaves the display range and LUT of each of `count` channels, where the items have them of this many or
/// more.
void take_channels(std::vector<ImagejItem>& items, std::int64_t first, std::int64_t count);

/// Leaves what is true of a result with these axes; what falls is added to `lost`, a sentence.
void keep_imagej_items(std::vector<ImagejItem>& items, const RasterAxes& axes, const ImageChange& change,
                       std::vector<std::string>& lost);

/// "display ranges, LUTs"
std::string names_of(const std::vector<ImagejItem>& items);

}  // namespace sepconv
