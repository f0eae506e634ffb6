// ImageJ's metadata besides its description: the TIFF tags 50838 (lengths) and 50839 (a header and
// consecutive items), as its class TiffDecoder reads them.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

inline constexpr std::uint32_t kImagejLengthsTag = 50838, kImagejItemsTag = 50839;

/// The items of the two tags, in native byte order; empty if the tags contradict each other.
std::vector<ImagejItem> read_imagej_items(std::span<const std::uint32_t> lengths,
                                          std::span<const std::byte> bytes);
/// The values of the tags for lengths and items, in native byte order.
std::pair<std::vector<std::uint32_t>, std::vector<std::byte>> encode_imagej_items(
    const std::vector<ImagejItem>& items);

/// Keeps the display ranges and LUTs of the `count` channels from `first` on. Does nothing if there are
/// fewer.
void select_imagej_channels(std::vector<ImagejItem>& items, std::int64_t first, std::int64_t count);

/// Removes the items that are invalid for a result with these axes, and adds a sentence about them to `lost`.
void update_imagej_items(std::vector<ImagejItem>& items, const RasterAxes& axes, const ImageChange& change,
                         std::vector<std::string>& lost);

/// The names of the kinds of items, e.g. "display ranges, LUTs".
std::string names_of(const std::vector<ImagejItem>& items);

}  // namespace sepconv
