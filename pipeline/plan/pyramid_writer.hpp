// The smaller levels of a result, made in the pass that makes it.
#pragma once

#include <memory>

#include "io/checkpoint.hpp"
#include "io/writer.hpp"
#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// A sink that hands its pixels on to `image` and fills image->levels(): each is the stage `reduce:factor=2`
/// of the level before it, as that is stored, of what is not `missing`, and nothing is read back. Rows come
/// in ascending order. A writer without levels is returned as it is. `partial`: that of the image, if it has
/// one; a part that is made alone has rows of the levels that belong to blocks of its neighbours, which are
/// kept there for who finishes all.
std::unique_ptr<Writer> fill_levels(std::unique_ptr<Writer> image, const MissingPixels& missing = {},
                                    const std::shared_ptr<Checkpoint>& partial = {});

}  // namespace sepconv
