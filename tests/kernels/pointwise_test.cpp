// Pointwise operations on chosen values, and the host's bits against the reference's.
#include "kernels/pointwise/pointwise.hpp"

#include <catch2/catch.hpp>

#include "core/error.hpp"
#include "pointwise_kinds.hpp"
#include "random_image.hpp"

using namespace sepconv;

namespace {

/// Applies an operation to one f64 element with pointwise_host.
double apply(const PointwiseOp& op, double a, double b = 0) {
  double result = 77;
  const Extent one{1, 1};
  pointwise_host(op, view_of(&a, one), view_of(&b, one), view_of(&result, one), Arithmetic::f64);
  return result;
}

void check_same(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b, PixelType to,
                Arithmetic arithmetic) {
  Image expected(a.extent, a.channels, to);
  Image actual(a.extent, a.channels, to);
  expected.fill_bytes(0xa5);
  pointwise_reference(op, a, b, expected.view, arithmetic);
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    REQUIRE(simd_target() == target);
    actual.fill_bytes(0xa5);
    pointwise_host(op, a, b, actual.view, arithmetic);
    INFO("kind " << int(op.kind) << ", " << name_of(a.type) << " to " << name_of(to) << " in "
                 << name_of(arithmetic) << " on " << target << ", " << a.extent.rows << " x "
                 << a.extent.cols);
    REQUIRE(differing_elements(expected.view, actual.view) == 0);
  }
}

}  // namespace

TEST_CASE("each pointwise operation does what its name says") {
  CHECK(apply({Kind::copy}, -3) == -3);
  CHECK(apply({Kind::scale, 2, 1}, 5) == 11);
  CHECK(apply({Kind::clamp, -1, 1}, 5) == 1);
  CHECK(apply({Kind::clamp, -1, 1}, -5) == -1);
  CHECK(std::isnan(apply({Kind::clamp, -1, 1}, NAN)));
  CHECK(apply({Kind::absolute}, -4) == 4);
  CHECK_FALSE(std::signbit(apply({Kind::absolute}, -0.0)));
  CHECK(apply({Kind::threshold, 10, 255, 7}, 10) == 7);
  CHECK(apply({Kind::threshold, 10, 255, 7}, 10.5) == 255);
  CHECK(apply({Kind::threshold, 10, 255, 7}, NAN) == 7);
  CHECK(apply({Kind::round_to, 0, 0, 0, PixelType::u8}, 2.5) == 2);
  CHECK(apply({Kind::round_to, 0, 0, 0, PixelType::u8}, 300) == 255);
  CHECK(apply({Kind::round_to, 0, 0, 0, PixelType::u8}, NAN) == 0);
  CHECK_FALSE(std::signbit(apply({Kind::round_to, 0, 0, 0, PixelType::i16}, -0.25)));
  CHECK(apply({Kind::round_to, 0, 0, 0, PixelType::f32}, 0.1) == double(0.1f));
  CHECK(apply({Kind::round_to, 0, 0, 0, PixelType::f64}, 0.1) == 0.1);
  CHECK(apply({Kind::magnitude}, 3, 4) == 5);
  CHECK(apply({Kind::sum}, 3, 4) == 7);
  CHECK(apply({Kind::difference}, 3, 4) == -1);
  CHECK(apply({Kind::product}, 3, 4) == 12);
  CHECK(apply({Kind::lesser}, 3, 4) == 3);
  CHECK(apply({Kind::greater}, 3, 4) == 4);
  CHECK(apply({Kind::mix, 0.75, 0.25}, 4, 8) == 5);
  CHECK(apply({Kind::unsharp, 2, 1}, 10, 8) == 14);
  CHECK(apply({Kind::unsharp, 2, 3}, 10, 8) == 10);
}

TEST_CASE("each operation on what is missing does what its name says") {
  CHECK(std::isnan(apply({Kind::mark_missing, 7}, 7)));
  CHECK(apply({Kind::mark_missing, 7}, 8) == 8);
  CHECK(apply({Kind::zero_missing}, NAN) == 0);
  CHECK(apply({Kind::zero_missing}, 5) == 5);
  CHECK(apply({Kind::fill_missing}, NAN, 5) == 5);
  CHECK(apply({Kind::fill_missing}, 4, 5) == 4);
  CHECK(apply({Kind::fill_missing}, 4, NAN) == 4);
  CHECK(apply({Kind::keep_equal, 1}, 4, 1) == 4);
  CHECK(std::isnan(apply({Kind::keep_equal, 1}, 4, 0.5)));
  CHECK(apply({Kind::weight}, NAN) == 0);
  CHECK(apply({Kind::weight}, INFINITY) == 1);
  CHECK(apply({Kind::store_missing, 7, 8, 0, PixelType::u8}, NAN) == 7);
  CHECK(apply({Kind::store_missing, 7, 8, 0, PixelType::u8}, 6.6) == 8);
  CHECK(apply({Kind::store_missing, 7, 8, 0, PixelType::u8}, 300) == 255);
  CHECK(std::isnan(apply({Kind::keep_missing}, NAN, 3)));
  CHECK(apply({Kind::keep_missing}, 2, 3) == 3);
  CHECK(apply({Kind::quotient}, 3, 4) == 0.75);
  CHECK(apply({Kind::renormalise, 4}, 3, 4) == 3);
  CHECK(apply({Kind::renormalise, 4}, 3, 2) == 6);
  CHECK(std::isnan(apply({Kind::renormalise, 4}, 3, 0)));
  CHECK(std::isnan(apply({Kind::renormalise, 4}, 3, -2)));
  CHECK(std::isnan(apply({Kind::renormalise, 4}, NAN, 4)));
  PointwiseOp threshold{Kind::threshold, 10, 255, 7};
  threshold.propagates_nodata = true;
  CHECK(std::isnan(apply(threshold, NAN)));
  CHECK(apply(threshold, 11) == 255);
  PointwiseOp unsharp{Kind::unsharp, 2, 1};
  unsharp.propagates_nodata = true;
  CHECK(std::isnan(apply(unsharp, 10, NAN)));
}

TEST_CASE("pointwise_host has the reference's bits: every operation, type and arithmetic") {
  Random random(11);
  for (const Kind kind : kKinds) {
    for (const PixelType from : kPixelTypes) {
      for (const PixelType to : kPixelTypes) {
        PointwiseOp op{kind, 1.3, 40.7, -3.1, random_choice(random, kPixelTypes)};
        if (kind == Kind::clamp) op.p = -0.0;
        if (kind == Kind::mark_missing || kind == Kind::store_missing)
          op.p = 3;  // some values are or become 3
        op.propagates_nodata = random_between(random, 0, 1) == 1;
        Image a({3, 21}, 2, from);
        Image b({3, 21}, 2, random_choice(random, kPixelTypes));
        fill_random(a.view, random, true);
        fill_random(b.view, random, true);
        check_same(op, a.view, b.view, to, Arithmetic::f32);
        check_same(op, a.view, b.view, to, Arithmetic::f64);
      }
    }
  }
}

TEST_CASE("pointwise_host has the reference's bits: rows around vectors and chunks") {
  Random random(12);
  for (const std::int64_t cols : {1, 7, 8, 15, 16, 17, 511, 512, 513, 1025}) {
    Image a({2, cols}, 1, PixelType::u16);
    Image b({2, cols}, 1, PixelType::f32);
    fill_random(a.view, random);
    fill_random(b.view, random);
    check_same({Kind::unsharp, 0.5, 2}, a.view, b.view, PixelType::u16, Arithmetic::f32);
  }
}

TEST_CASE("a pointwise operation may write over either input") {
  Random random(13);
  Image a({5, 700}, 1, PixelType::f32);
  Image b({5, 700}, 1, PixelType::f32);
  Image expected({5, 700}, 1, PixelType::f32);
  for (const bool over_first : {true, false}) {
    fill_random(a.view, random);
    fill_random(b.view, random);
    pointwise_reference({Kind::difference}, a.view, b.view, expected.view, Arithmetic::f32);
    Image& target = over_first ? a : b;
    pointwise_host({Kind::difference}, a.view, b.view, target.view, Arithmetic::f32);
    CHECK(differing_elements(expected.view, target.view) == 0);
  }
}

TEST_CASE("pointwise operations refuse unequal shapes") {
  Image a({2, 3}, 1, PixelType::u8);
  Image b({2, 4}, 1, PixelType::u8);
  CHECK_THROWS_AS(pointwise_host({Kind::copy}, a.view, {}, b.view, Arithmetic::f32), InvalidArgument);
  CHECK_THROWS_AS(pointwise_host({Kind::sum}, a.view, b.view, a.view, Arithmetic::f32), InvalidArgument);
  CHECK_NOTHROW(pointwise_host({Kind::copy}, a.view, {}, a.view, Arithmetic::f32));
}
