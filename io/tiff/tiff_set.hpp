// The rasters of a TIFF: which of its pages they are, along which axes, and what becomes of the others.
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
  std::vector<std::int64_t> pages{};  ///< of each raster
  RasterAxes axes{};
  std::string description{};                                   ///< that counts them, if there is one
  bool one_directory = false;                                  ///< all lie behind the only page's
  std::vector<std::pair<std::int64_t, std::string>> unlike{};  ///< pages that are not read, and what they are
  std::vector<std::string> warnings{};
  std::string refusal{};            ///< why they are no set: a sentence without the file's name
  std::vector<OmeSeries> series{};  ///< where they are none because these are not alike
};

/// By the description of the first image, else by the pages' forms. `series`: those of OME-XML's images that
/// are to be read, where not all are alike.
TiffRasters rasters_of(const TiffCatalog& catalog, const std::optional<AxisRange>& series = {});
/// Calls their axes as OpenOptions::axes says, if it does; what their description says of others falls.
void name_axes(const TiffCatalog& catalog, TiffRasters& rasters, const std::string& letters);
/// Adds what is to be said of the pages that are unlike, where nobody has named pages.
void warn_of_unlike(TiffRasters& rasters);

/// Why a run does not take these, by whatever it would open first; empty: it does.
std::string refusal_of(std::shared_ptr<const TiffCatalog> catalog, const TiffRasters& rasters);

/// A page that the catalog opened at this level of it.
std::unique_ptr<TiffReader> read_page(const TiffCatalog& catalog, TiffPage page, int level);

}  // namespace sepconv
