// Selects the rasters of a TIFF: their pages and axes, and the other pages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "io/raster_set.hpp"
#include "io/stack/stack.hpp"
#include "io/tiff/ifd_index.hpp"
#include "io/tiff/tiff_reader.hpp"

namespace sepconv {

struct TiffRasters {
  std::vector<std::int64_t> pages{};  ///< page of each raster
  RasterAxes axes{};
  std::string description{};   ///< counts the rasters; may be empty
  bool one_directory = false;  ///< all planes follow that of the only directory
  std::vector<std::pair<std::int64_t, std::string>>
      other_pages{};  ///< pages that are not read, and what they are
  std::vector<std::string> warnings{};
  std::string refusal{};            ///< why they are not a set: a sentence without the file's name
  std::vector<OmeSeries> series{};  ///< of a file that is not a set because these are not alike
};

/// Selects rasters by the description of the first image, else by the pages' forms. `series`: the images of
/// OME-XML to read if not all are alike.
TiffRasters rasters_of(const TiffCatalog& catalog, const std::optional<AxisRange>& series = {});
/// Names the axes as OpenOptions::axes requests; drops what the description has about other axes.
void name_axes(const TiffCatalog& catalog, TiffRasters& rasters, const std::string& letters);
/// Adds warnings about `other_pages`, if no pages were selected.
void warn_of_other_pages(TiffRasters& rasters);

/// Returns why a run cannot use these rasters, by opening the first; empty if it can.
std::string refusal_of(std::shared_ptr<const TiffCatalog> catalog, const TiffRasters& rasters);

/// Opens a page that the catalog returned for this level.
std::unique_ptr<TiffReader> read_page(const TiffCatalog& catalog, TiffPage page, int level);

}  // namespace sepconv
