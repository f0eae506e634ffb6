// Compares a convolution on the GPU with the reference, with poison around input and result.
#pragma once

#include <catch2/catch.hpp>
#include <optional>

#include "../support/gpu.hpp"
#include "conv_case.hpp"
#include "core/error.hpp"
#include "cuda_case.hpp"

using namespace sepconv;
using test::DeviceImage;

inline Arena device_arena(const ConvolutionCase& c) {
  return Arena(
      Buffer(convolve_device_bytes(c.taps, c.out.extent(), c.channels, c.arithmetic), device_resource()));
}

/// The operations on the results before the kernel stores them.
struct Epilogue {
  std::optional<PointwiseOp> join;
  PixelType other = PixelType::f32;
  std::vector<PointwiseOp> then;
};

/// The reference result in separate steps: the convolution, the join and each operation over a whole image of
/// the arithmetic type.
inline void convolve_in_steps(const ConvolutionCase& c, const ConstRegion& in, const Epilogue& epilogue,
                              const ConstPixelView& other, const PixelView& out) {
  Image values(c.out.extent(), c.channels, pixel_type_of(c.arithmetic));
  convolve_expected(c, in, values.view);
  if (epilogue.join) pointwise_reference(*epilogue.join, other, values.view, values.view, c.arithmetic);
  apply_ops_reference(epilogue.then, values, out, c.arithmetic);
}

inline void check_case(const ConvolutionCase& c, Random& random, const Epilogue& epilogue = {}) {
  const Rect rect = needed_rect(c);
  const FramedImage source(rect.extent(), c.channels, c.from);
  fill_random(source.view(), random, c.special);
  const FramedImage other(c.out.extent(), c.channels, epilogue.other);
  fill_random(other.view(), random, c.special);
  FramedImage expected(c.out.extent(), c.channels, c.to);
  convolve_in_steps(c, {source.view(), rect, c.image}, epilogue, other.view(), expected.view());

  std::vector<ConvolutionDesign> designs{ConvolutionDesign::automatic, ConvolutionDesign::two_passes};
  if (convolve_device_fits(c.taps, c.channels, c.from, c.arithmetic)) designs[0] = ConvolutionDesign::fused;
  for (const ConvolutionDesign design : designs) {
    const Stream stream;
    FramedImage actual(c.out.extent(), c.channels, c.to);
    const DeviceImage in(source.all.view, stream.get());
    const DeviceImage operand(other.all.view, stream.get());
    const DeviceImage out(actual.all.view, stream.get());
    Arena arena = device_arena(c);
    convolve_device(design, c.taps, c.border, {in.view().crop(source.inside), rect, c.image},
                    {out.view().crop(actual.inside), c.out, c.image}, c.arithmetic, arena, stream.get(),
                    {.join = epilogue.join ? &*epilogue.join : nullptr,
                     .other = operand.view().crop(other.inside),
                     .then = epilogue.then});
    CHECK(arena.used_bytes() == 0);
    out.download(actual.all.view, stream);
    INFO(c << (epilogue.join ? ", joined" : "") << ", then " << epilogue.then.size() << " operations, "
           << (design == ConvolutionDesign::two_passes ? "two passes" : "fused or automatic"));
    REQUIRE(same_pixels(expected, actual));
    if (!is_floating(c.to)) REQUIRE(same_bytes(expected, actual));
  }
}

/// A whole image without special values.
inline ConvolutionCase whole_case(SeparableTaps taps, Border border, Extent image, std::int64_t channels,
                                  PixelType from, PixelType to, Arithmetic arithmetic) {
  return {std::move(taps), border, image, Rect::whole(image), channels, from, to, arithmetic, false};
}

inline ConvolutionCase random_whole_case(Random& random, SeparableTaps taps, Extent image,
                                         std::int64_t channels, Arithmetic arithmetic) {
  return whole_case(std::move(taps), {random_choice(random, kBorderModes), 3}, image, channels,
                    random_choice(random, kPixelTypes), random_choice(random, kPixelTypes), arithmetic);
}

inline SeparableTaps random_pair(Random& random, std::int64_t row_radius, std::int64_t col_radius) {
  std::vector<double> row = random_taps(random, row_radius);
  return {std::move(row), random_taps(random, col_radius)};
}
