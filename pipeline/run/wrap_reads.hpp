// Reads that may extend beyond the edges of a periodic image. Internal to the runners.
#pragma once

#include "core/executor.hpp"
#include "io/reader.hpp"

namespace sepconv {

/// Reads a rectangle that may extend beyond the image, which is continued periodically (wrap.hpp).
void read_periodic(Reader& source, const Rect& rect, const PixelView& out, Executor& executor);

}  // namespace sepconv
