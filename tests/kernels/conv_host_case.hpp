// Compares convolve_host with convolve_reference on every instruction set of this processor.
#pragma once

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>

#include "conv_case.hpp"
#include "kernels/conv/strips.hpp"

namespace sepconv {

enum class RowAlignment {
  any,
  same_columns
};  ///< rows of the result: cache lines start at any column, or at the same columns in all rows

/// Runs the case twice, the second time with non-temporal stores allowed.
inline void check_case(const ConvolutionCase& c, Random& random, RowAlignment alignment = RowAlignment::any) {
  // A separate buffer with only the pixels that the kernel may read, so that sanitizers detect out-of-bounds
  // reads.
  const Rect rect = needed_rect(c);
  Image source(rect.extent(), c.channels, c.from, 0);
  fill_random(source.view, random, c.special);
  const ConstRegion in{source.view, rect, c.image};

  const std::int64_t row_elements = c.out.cols * c.channels;
  const std::int64_t first_element =
      alignment == RowAlignment::any ? 0 : random_between(random, 0, 1) * random_between(random, 1, 40);
  const std::int64_t padding =
      alignment == RowAlignment::any ? 3 : round_up(row_elements + first_element, kAlignment) - row_elements;
  Image expected(c.out.extent(), c.channels, c.to, padding);
  Image actual(c.out.extent(), c.channels, c.to, padding);
  expected.view.data += first_element * size_of(c.to);
  actual.view.data += first_element * size_of(c.to);
  expected.fill_bytes(0xa5);
  convolve_reference(c.taps, c.border, in, {expected.view, c.out, c.image}, c.arithmetic);
  Worker worker(Buffer(convolve_scratch_bytes(c.taps, c.out.extent(), c.channels, c.arithmetic, c.image)));
  const auto check_on = [&](const std::string& target, bool past_caches) {
    actual.fill_bytes(0xa5);
    const Region out{actual.view, c.out, c.image, past_caches};
    if (alignment == RowAlignment::same_columns) {
      REQUIRE(stores_past_caches(out, pixel_type_of(c.arithmetic)) ==
              (past_caches && c.to == pixel_type_of(c.arithmetic)));
    }
    convolve_host(c.taps, c.border, in, out, c.arithmetic, worker);
    INFO(c << " on " << target << (past_caches ? ", past the caches" : ""));
    // Whole buffers: the bytes between the rows must be unchanged.
    if (is_floating(c.to) && c.special) {
      REQUIRE(differing_elements(expected.view, actual.view) == 0);
    } else {
      REQUIRE(std::memcmp(expected.buffer.data(), actual.buffer.data(), expected.buffer.bytes().size()) == 0);
    }
    REQUIRE(worker.used_bytes() == 0);
  };
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    REQUIRE(simd_target() == target);
    check_on(target, false);
    check_on(target, true);
  }
}

}  // namespace sepconv
