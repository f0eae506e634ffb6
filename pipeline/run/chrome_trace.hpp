// A timeline as a file for Perfetto and chrome://tracing.
#pragma once

#include <ostream>
#include <string>

#include "pipeline/run/timeline.hpp"

namespace sepconv {

/// What a trace says besides the timeline.
struct TraceFacts {
  std::string plan{};     ///< as JSON text; empty: nothing is said of it
  std::string command{};  ///< that made it
  /// A number is the same band's on every track: then bands that wait for a step are counted.
  bool bands_keep_numbers = false;
};

/// Chrome trace event JSON: a slice a span, named by its step, with band, bytes and image as arguments; a
/// thread per track, and another where spans of a track overlap; counters of what was resident, of each
/// step's rate and of bands that wait; an event at the beginning with the facts. Times in microseconds.
/// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU has the format.
void write_chrome_trace(std::ostream& out, const Timeline& timeline, const TraceFacts& facts = {});

}  // namespace sepconv
