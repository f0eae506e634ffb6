// The end of a raster: its last rows are written, and its output is completed unless the run is stopped.
#pragma once

#include <stop_token>

#include "core/error.hpp"
#include "io/writer.hpp"

namespace sepconv {

/// Calls before_finish() when all rows are written. Throws Cancelled if a stop was requested; then the output
/// is not completed.
template <class BeforeFinish>
void finish_raster(Writer& sink, const std::stop_token& stop, const BeforeFinish& before_finish) {
  sink.prepare_finish();
  if (stop.stop_requested()) throw Cancelled();
  before_finish();
  sink.finish();
}

}  // namespace sepconv
