// Descriptions that count images: OME-XML, ImageJ's, OME-Zarr's, and the JSON of tifffile ("shaped"). What
// they say of a file's rasters, and the same said of a result.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sepconv/io/stack/ome_image.hpp"

namespace sepconv {

struct Stack {
  RasterAxes axes{};
  std::vector<std::int64_t> pages{};  ///< of the file, one a raster; empty: one after another
  /// Images of the description that are of other kinds (the label of a slide): their first page and name.
  std::vector<std::pair<std::int64_t, std::string>> unlike{};
  std::string problem{};  ///< why the description is of no use: "its OME-XML is damaged"
  std::string refusal{};  ///< why the file is not to be read by its pages either
};

/// What a description that counts images says of those of this shape, in a file of so many pages.
Stack read_stack(const std::string& description, const StoredSpec& spec, std::int64_t pages);

/// The description of the rasters that are left at these axes and changed so, or nothing where it cannot
/// be said of them; `lost` gets a sentence about what it does not say any more.
std::string describe_stack(const std::string& description, const RasterAxes& axes, const ImageChange& change,
                           std::vector<std::string>& lost);

/// Whether OME-XML has a word for the type; f16 and 64-bit integers have none.
bool ome_holds(StoredType type);
/// A new one: OME-XML, for what is in no other description, with what is known of the image.
std::string new_ome(const StoredSpec& spec, const RasterAxes& axes, const OmeImage& image = {});
/// A new shaped one, which names the axes.
std::string new_shaped(const StoredSpec& spec, const RasterAxes& axes);
/// A shaped description whose channels come where they are stored, before rows or behind columns; others as
/// they are.
std::string with_channels_at(const std::string& description, const StoredSpec& spec, bool planar);

// Kind by kind.
Stack read_ome(const std::string& xml, const StoredSpec& spec, std::int64_t pages);
std::string describe_ome(const std::string& xml, const RasterAxes& axes, const ImageChange& change,
                         std::vector<std::string>& lost);
Stack read_imagej(const std::string& text, const StoredSpec& spec);
std::string describe_imagej(const std::string& text, const RasterAxes& axes, const ImageChange& change,
                            std::vector<std::string>& lost);
Stack read_shaped(const std::string& json, const StoredSpec& spec);
std::string describe_shaped(const std::string& json, const RasterAxes& axes, const ImageChange& change);
bool is_imagej(std::string_view description) noexcept;
/// What a line of ImageJ's description says; nothing if there is none.
std::string_view imagej_value(std::string_view text, std::string_view key);
bool is_shaped(std::string_view description) noexcept;

}  // namespace sepconv
