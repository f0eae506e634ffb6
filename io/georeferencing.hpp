// Where an image lies on the earth, when another one is made of its pixels. Internal to io/.
#pragma once

#include <vector>

#include "io/metadata.hpp"

namespace sepconv {

/// Changes the tags that speak of rows and columns (pixel scale, tie points, transformation, RPC) so that
/// they hold for the image that lies so in the one that they are of. Scale and tie point of an image that is
/// turned become a transformation. False, and nothing is changed, if one of them has not the type, the length
/// or the company that it should.
bool update_georeference(std::vector<RawTag>& tags, const PixelTransform& map);

}  // namespace sepconv
