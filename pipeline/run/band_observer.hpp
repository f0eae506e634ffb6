// An interface that receives a run's pixels as they pass through host memory.
#pragma once

#include "core/image.hpp"

namespace sepconv {

/// Called from the threads of a run, concurrently if several devices are used. The time of the calls counts
/// as part of the calling step. The functions must not throw. Pixels that do not pass through host buffers
/// are not observed: those of blocks that devices encode or decode, and of page-locked images.
class BandObserver {
 public:
  virtual ~BandObserver() = default;
  /// Source pixels after reading. Pixels are passed more than once if bands share columns, where
  /// bands of different devices meet, and after a device has failed. With a periodic border `rect` may reach
  /// beyond the image.
  virtual void observe_source(const Rect& rect, const ConstPixelView& pixels) = 0;
  /// Result pixels before writing, each once.
  virtual void observe_result(const Rect& rect, const ConstPixelView& pixels) = 0;
};

}  // namespace sepconv
