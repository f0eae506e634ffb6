// normalized_conv_host against the references' convolutions and operations, bit for bit, on every instruction
// set of this processor.
#include "kernels/conv/normalized_conv.hpp"

#include <catch2/catch.hpp>

#include "conv_case.hpp"

using namespace sepconv;

namespace {

using Kind = PointwiseOp::Kind;

enum class Holes { none, one, some, many, all };

template <class T>
void make_holes(const PixelView& pixels, Holes holes, T value, Random& random) {
  const std::int64_t count = pixels.extent.rows * pixels.row_elements();
  const std::int64_t step = holes == Holes::many ? 3 : 97;
  const auto hole = [&](std::int64_t at) {
    pixels.row<T>(at / pixels.row_elements())[at % pixels.row_elements()] = value;
  };
  if (holes == Holes::all)
    for (std::int64_t at = 0; at < count; ++at) hole(at);
  if (holes == Holes::one) hole(random_between(random, 0, count - 1));
  if (holes == Holes::some || holes == Holes::many)
    for (std::int64_t at = random_between(random, 0, step); at < count;
         at += random_between(random, 1, 2 * step))
      hole(at);
}

struct Expected {
  const ConvolutionCase& c;
  const ConstRegion& in;
  PixelType type = pixel_type_of(c.arithmetic);

  Image image(Extent extent) const { return {extent, c.channels, type}; }
  Image applied(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b) const {
    Image result = image(a.extent);
    pointwise_reference(op, a, b, result.view, c.arithmetic);
    return result;
  }
  Image filtered(const PixelView& pixels, double outside) const {
    Image result = image(c.out.extent());
    convolve_reference(c.taps, {c.border.mode, outside}, {pixels, in.rect, in.image},
                       {result.view, c.out, c.image}, c.arithmetic);
    return result;
  }
  double total() const {
    Image one({1, 1}, 1, type), sum({1, 1}, 1, type);
    pointwise_reference({.kind = Kind::threshold, .q = 1, .r = 1}, one.view, one.view, one.view,
                        c.arithmetic);
    convolve_reference(c.taps, {.mode = BorderMode::replicate}, ConstRegion::whole(one.view),
                       Region::whole(sum.view), c.arithmetic);
    return c.arithmetic == Arithmetic::f64 ? sum.view.row<double>(0)[0] : sum.view.row<float>(0)[0];
  }

  void compute(const NormalizedMissing& missing, const PixelView& out) const {
    const PointwiseOp mark =
        missing.value ? PointwiseOp{.kind = Kind::mark_missing, .p = *missing.value} : PointwiseOp{};
    const Image marked = applied(mark, in.pixels, in.pixels);
    const Image values = applied({.kind = Kind::zero_missing}, marked.view, marked.view);
    const Image weights = applied({.kind = Kind::weight}, marked.view, marked.view);
    const ConstPixelView center = Region{marked.view, in.rect, in.image}.crop(c.out).pixels;
    const Image num = filtered(values.view, c.border.value), den = filtered(weights.view, 1);
    const Image masked = applied({.kind = missing.fills ? Kind::copy : Kind::keep_missing},
                                 missing.fills ? ConstPixelView(num.view) : center, num.view);
    const Image result = applied({.kind = Kind::renormalise, .p = total()}, masked.view, den.view);
    pointwise_reference(missing.store.value_or(PointwiseOp{}), result.view, result.view, out, c.arithmetic);
  }
};

void check_case(const ConvolutionCase& c, Holes holes, bool fills, bool stores, Random& random) {
  const Rect rect = needed_rect(c);
  Image source(rect.extent(), c.channels, c.from, 0);
  fill_random(source.view, random, false);
  NormalizedMissing missing{.fills = fills};
  visit_pixel_type(c.from, [&]<class T>(std::type_identity<T>) {
    const bool nan = std::is_floating_point_v<T> && random_between(random, 0, 1) == 0;
    if (!nan) missing.value = 7;
    make_holes<T>(source.view, holes, nan ? std::numeric_limits<T>::quiet_NaN() : T(7), random);
  });
  if (stores) missing.store = {.kind = Kind::store_missing, .p = 9, .q = 10, .type = c.to};
  const ConstRegion in{source.view, rect, c.image};
  Image expected(c.out.extent(), c.channels, c.to);
  Image actual(c.out.extent(), c.channels, c.to);
  expected.fill_bytes(0xa5);
  Expected{c, in}.compute(missing, expected.view);
  Worker worker(
      Buffer(normalized_conv_scratch_bytes(c.taps, c.out.extent(), c.channels, c.arithmetic, c.image)));
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    REQUIRE(simd_target() == target);
    actual.fill_bytes(0xa5);
    normalized_conv_host(c.taps, c.border, missing, in, {actual.view, c.out, c.image}, c.arithmetic, worker);
    INFO(c << " on " << target << ", holes " << static_cast<int>(holes) << (fills ? ", filled" : "")
           << (stores ? ", stored" : ""));
    REQUIRE(differing_elements(expected.view, actual.view) == 0);
    REQUIRE(worker.used_bytes() == 0);
  }
}

}  // namespace

TEST_CASE("valid pixels are filtered with the bits of two convolutions and a quotient") {
  Random random(17);
  for (int i = 0; i < 100; ++i) {
    ConvolutionCase c = random_case(random, i % 4 == 0 ? 300 : 60, i % 4 == 0 ? 9 : 40);
    c.special = false;
    c.taps.columns_first = false;
    if (!supports_normalized_conv(c.taps)) continue;
    const bool stores = random_between(random, 0, 1) == 0;
    if (!stores && !is_floating(c.to)) c.to = pixel_type_of(c.arithmetic);
    check_case(c, static_cast<Holes>(i % 5), random_between(random, 0, 1) == 0, stores, random);
  }
}

TEST_CASE("filters with one pass, or with columns first, are not normalized_conv_host's") {
  CHECK(supports_normalized_conv({{1, 1, 1}, {1}}));
  CHECK_FALSE(supports_normalized_conv({{1, 1, 1}, {}}));
  CHECK_FALSE(supports_normalized_conv({{}, {1, 1, 1}}));
  CHECK_FALSE(supports_normalized_conv({{1, 1, 1}, {1}, true}));
}
