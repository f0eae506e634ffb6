// Exports a timeline for Perfetto and chrome://tracing.
#pragma once

#include <ostream>
#include <string>

#include "pipeline/run/timeline.hpp"

namespace sepconv {

/// Contents of a trace besides the timeline.
struct TraceFacts {
  std::string plan{};     ///< as JSON text; empty: omitted
  std::string command{};  ///< command line of the run; empty: omitted
  /// Whether a band has the same number on every track; if so, waiting bands are counted per step.
  bool band_numbers_match = false;
};

/// Writes Chrome trace event JSON: one slice per span, named after its step, with band, bytes and image as
/// arguments; one thread per track, and more if its spans overlap; counters of resident memory, of each
/// step's rate and of waiting bands; an initial event with the facts. Times are in microseconds. Format:
/// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
void write_chrome_trace(std::ostream& out, const Timeline& timeline, const TraceFacts& facts = {});

}  // namespace sepconv
