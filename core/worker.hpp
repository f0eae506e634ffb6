// Per-thread state of a computation on the CPU.
#pragma once

#include <stop_token>
#include <utility>

#include "core/error.hpp"
#include "core/memory.hpp"

namespace sepconv {

/// Scratch memory and a stop token. One per thread.
class Worker : public Arena {
 public:
  Worker() = default;
  explicit Worker(Buffer scratch, std::stop_token stop = {})
      : Arena(std::move(scratch)), stop_(std::move(stop)) {}

  /// Throws Cancelled if the run was asked to stop. Cheap: kernels with long loops call it once per row.
  void throw_if_stopped() const {
    if (stop_.stop_requested()) throw Cancelled();
  }

 private:
  std::stop_token stop_;
};

}  // namespace sepconv
