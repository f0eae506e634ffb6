// Data of one page from the directories of a TIFF, before libtiff reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/metadata.hpp"
#include "io/raster_axes.hpp"
#include "io/tiff/ifd.hpp"

namespace sepconv {

/// Properties of a whole set, passed with its first raster.
struct TiffSetFacts {
  std::string description;  ///< counts the rasters; empty if the page's own does not
  RasterAxes axes;
  std::vector<std::string> warnings;
  std::vector<ImagejItem> imagej_items{};  ///< of the file's first page, if the raster is in another
};

struct TiffPage {
  std::int64_t index = 0;
  std::int64_t pages = 0;               ///< number of pages of the file
  std::uint64_t offset = 0;             ///< offset of the directory
  TiffEntries entries{};                ///< empty: the page does not exist
  std::int64_t images = 0;              ///< number of pages that are neither overviews nor masks
  std::int64_t levels = 0;              ///< number of smaller levels of the page
  std::optional<std::uint64_t> mask{};  ///< offset of the directory of the page's mask
  bool ignores_mask = false;            ///< the mask is not requested
  std::int64_t mismatched_masks = 0;    ///< masks of other sizes than the page and its levels
  std::int64_t unused_masks = 0;        ///< masks of a size that has one already, or before the first image
  std::int64_t catalog_bytes = 0;       ///< memory of all directories
  std::int64_t plane = 0;               ///< index in a contiguous stack of planes that has one directory
  bool has_luts = false;  ///< ImageJ or a microscope wrote the file: its palettes are not classes
  bool in_set = false;    ///< a raster of a set, which its own description does not describe
  std::optional<TiffSetFacts> set_facts{};  ///< for the first raster of a set
  std::int64_t max_tag_bytes = 0;           ///< larger tags are left out
  std::int64_t tag_bytes = 0;               ///< of tags that are not left out
  std::vector<std::uint32_t> too_large{};   ///< tags larger than max_tag_bytes
};

/// Sets max_tag_bytes, tag_bytes and too_large according to the entries.
void bound_tags(TiffPage& page);
/// Returns at most `max_bytes` of the page's description; empty if it is missing or too large.
std::string read_description(const InputFile& file, const TiffEntries& entries, std::int64_t max_bytes);

}  // namespace sepconv
