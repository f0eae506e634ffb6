// Where an image lies on the earth, when a part of it becomes an image. Internal to io/.
#pragma once

#include <vector>

#include "sepconv/io/metadata.hpp"

namespace sepconv {

/// Changes the tags that count rows and columns (tie points, transformation, RPC) so that they hold for the
/// image whose first pixel is that of `part`. False, and nothing is changed, if one of them has not the type
/// or the length that it should.
bool move_places(std::vector<RawTag>& tags, const Rect& part);

}  // namespace sepconv
