// What the directories of a TIFF say of one of them, before libtiff reads it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/metadata.hpp"
#include "io/raster_axes.hpp"
#include "io/tiff/ifd.hpp"

namespace sepconv {

/// For the first raster of a set: what it says for all.
struct TiffSetFacts {
  std::string description;  ///< that counts them; empty: the page's own is no such
  RasterAxes axes;
  std::vector<std::string> warnings;
  std::vector<ImagejItem> imagej_items{};  ///< of the file's first page, where the raster is in another
};

struct TiffPage {
  std::int64_t index = 0;
  std::int64_t pages = 0;               ///< that the file has
  std::uint64_t offset = 0;             ///< of the directory
  TiffEntries entries{};                ///< none: it is not there
  std::int64_t images = 0;              ///< of the pages those that are neither overviews nor masks
  std::int64_t levels = 0;              ///< smaller ones of the page
  std::optional<std::uint64_t> mask{};  ///< where the directory of the mask that belongs to it lies
  bool leaves_mask = false;             ///< that is not asked for
  std::int64_t unlike_masks = 0;        ///< of other sizes than it and its levels
  std::int64_t spare_masks = 0;         ///< of a size that has one already, or before the first image
  std::int64_t catalog_bytes = 0;       ///< that all directories take in memory
  std::int64_t plane = 0;               ///< of a stack of planes one behind the other that has one directory
  bool has_luts = false;  ///< ImageJ or a microscope wrote the file: its palettes are not classes
  bool in_set = false;    ///< a raster among others: its description says nothing of them
  std::optional<TiffSetFacts> leads{};     ///< the first one of those
  std::int64_t max_tag_bytes = 0;          ///< larger tags are left out
  std::int64_t tag_bytes = 0;              ///< of those that are not
  std::vector<std::uint32_t> too_large{};  ///< those
};

/// Sets the last three by the entries.
void bound_tags(TiffPage& page);
/// The text of the page's description, or so much of it; empty where it is none, or too large to hold.
std::string read_description(const InputFile& file, const TiffEntries& entries, std::int64_t max_bytes);

}  // namespace sepconv
