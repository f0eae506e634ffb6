// Reading for a chain that may need what lies beyond the source's edges. Internal to the runners.
#pragma once

#include "core/executor.hpp"
#include "io/reader.hpp"

namespace sepconv {

/// source.read() of a rectangle that may reach beyond the image, which repeats there (wrap.hpp).
void read_periodic(Reader& source, const Rect& rect, const PixelView& out, Executor& executor);

}  // namespace sepconv
