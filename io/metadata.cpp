#include "sepconv/io/metadata.hpp"

#include <string_view>

namespace sepconv {
namespace {

// OME-XML, ImageJ's key=value lines and tifffile's JSON all repeat the shape and the type of the pixels.
bool states_shape(std::string_view description) {
  return description.find("<OME") != std::string_view::npos || description.starts_with("ImageJ=") ||
         (description.starts_with('{') && description.find("\"shape\":") != std::string_view::npos);
}

}  // namespace

Metadata Metadata::kept_for(bool same_extent, bool same_channels, bool same_type) const {
  Metadata kept = *this;
  if (!same_extent) {
    kept.resolution.reset();
    kept.orientation = 1;
    kept.geo_tags.clear();
  }
  if (!same_channels) {
    kept.icc_profile.clear();
    kept.photometric.reset();
    kept.extra_samples.clear();
  }
  if (!(same_extent && same_channels && same_type) && states_shape(description)) kept.description.clear();
  return kept;
}

}  // namespace sepconv
