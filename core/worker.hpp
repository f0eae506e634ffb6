// What a thread of the host computes with.
#pragma once

#include <stop_token>
#include <utility>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace sepconv {

/// Scratch of its own, and the word of whoever it computes for whether to go on. One per thread.
class Worker : public Arena {
 public:
  Worker() = default;
  explicit Worker(Buffer scratch, std::stop_token stop = {})
      : Arena(std::move(scratch)), stop_(std::move(stop)) {}

  /// Throws Cancelled when the run is to end. Cheap: kernels with long loops call it once a row.
  void throw_if_stopped() const {
    if (stop_.stop_requested()) throw Cancelled();
  }

 private:
  std::stop_token stop_;
};

}  // namespace sepconv
