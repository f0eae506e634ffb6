// window_device against window_host, bit for bit (NaN equals NaN), including the frames around the images.
#pragma once

#include <catch2/catch.hpp>

#include "../support/gpu.hpp"
#include "cuda_case.hpp"
#include "sliding_window_case.hpp"

namespace sepconv {

inline void check_device(const WindowCase& c, Random& random) {
  const Rect rect = needed_rect(c);
  FramedImage in(rect.extent(), c.channels, c.from);
  FramedImage expected(c.out.extent(), c.channels, c.to), actual(c.out.extent(), c.channels, c.to);
  fill_random(in.view(), random, c.special);
  const std::vector<PointwiseOp> fused_ops = random_unary_ops(random, kMaxFusedOps);
  Image values(c.out.extent(), c.channels, pixel_type_of(c.arithmetic));
  // window_host, which sliding_window_test.cpp compares with the reference: the reference is slow for large
  // windows.
  Worker worker(Buffer(window_scratch_bytes(c.window, c.out.extent(), c.channels, c.arithmetic, c.image)));
  window_host(c.window, c.border, {in.view(), rect, c.image}, {values.view, c.out, c.image}, c.arithmetic,
              worker);
  apply_ops_reference(fused_ops, values, expected.view(), c.arithmetic);

  const Stream stream;
  const test::DeviceImage device_in(in.all.view, stream.get()), result(actual.all.view, stream.get());
  // The declared scratch size: the arena throws if it is too small.
  Arena arena(Buffer(window_device_bytes(c.window, c.out.extent(), c.channels, c.arithmetic, c.image),
                     device_resource()));
  window_device(c.window, c.border, {device_in.view().crop(in.inside), rect, c.image},
                {result.view().crop(actual.inside), c.out, c.image}, c.arithmetic, arena, stream.get(),
                fused_ops);
  result.download(actual.all.view, stream);
  INFO(c << ", then " << fused_ops.size() << " operations");
  REQUIRE(same_pixels(expected, actual));
}

}  // namespace sepconv
