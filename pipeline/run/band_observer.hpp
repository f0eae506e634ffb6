// Somebody who sees a run's pixels as they pass through the memory of the host, and keeps what it likes of
// them.
#pragma once

#include "core/image.hpp"

namespace sepconv {

/// Called from the threads of a run, several at once where several devices have their share. What these calls
/// take is a part of the steps in whose threads they are made. They must not throw. Pixels that never are in
/// the host's memory as such are not seen: those of blocks that devices code, and of page-locked images.
class BandObserver {
 public:
  virtual ~BandObserver() = default;
  /// For the source, as they were read. Some pixels come more than once where bands share columns, and `rect`
  /// reaches beyond the edges of an image that repeats.
  virtual void see_source(const Rect& rect, const ConstPixelView& pixels) = 0;
  /// For the sink, as they are written: each once.
  virtual void see_result(const Rect& rect, const ConstPixelView& pixels) = 0;
};

}  // namespace sepconv
