// window_host against window_reference, bit for bit, on every instruction set of this processor.
#pragma once

#include <catch2/catch.hpp>
#include <cstring>
#include <string>

#include "sliding_window_case.hpp"

namespace sepconv {

inline void check_case(const WindowCase& c, Random& random) {
  // A separate buffer with only the pixels that the kernel may read, so that sanitizers detect out-of-bounds
  // reads.
  const Rect rect = needed_rect(c);
  Image source(rect.extent(), c.channels, c.from, 0);
  fill_random(source.view, random, c.special);
  const ConstRegion in{source.view, rect, c.image};
  Image expected(c.out.extent(), c.channels, c.to), actual(c.out.extent(), c.channels, c.to);
  expected.fill_bytes(0xa5);
  window_reference(c.window, c.border, in, {expected.view, c.out, c.image}, c.arithmetic);
  Worker worker(Buffer(window_scratch_bytes(c.window, c.out.extent(), c.channels, c.arithmetic, c.image)));
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    for (const bool past_caches : {false, true}) {
      actual.fill_bytes(0xa5);
      window_host(c.window, c.border, in, {actual.view, c.out, c.image, past_caches}, c.arithmetic, worker);
      INFO(c << " on " << target << (past_caches ? ", past the caches" : ""));
      REQUIRE(differing_elements(expected.view, actual.view) == 0);
      // Whole buffers: the bytes between the rows must be unchanged.
      if (!is_floating(c.to) || !c.special)
        REQUIRE(std::memcmp(expected.buffer.data(), actual.buffer.data(), expected.buffer.bytes().size()) ==
                0);
      REQUIRE(worker.used_bytes() == 0);
    }
  }
}

}  // namespace sepconv
