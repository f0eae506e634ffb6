// Every variant of the gemm benchmark against sums in the order that the header guarantees, bit for bit on a
// GPU, with poison around the result. On the simulated GPU the same file tests the launchers' arguments.
#include <catch2/catch.hpp>
#include <cstring>
#include <initializer_list>

#include "../support/gpu.hpp"
#include "core/error.hpp"
#include "gemm_variants_case.hpp"

using namespace sepconv;
using namespace sepconv::gemm_variants_test;

namespace {

constexpr ZeroCopyVariant kZeroCopyVariants[] = {ZeroCopyVariant::global, ZeroCopyVariant::shared};

Matrix expected_of(const Case& c) {
  const bool f64 = c.out.all.view.type == PixelType::f64;
  Matrix expected = c.empty_result();
  f64 ? c.sum_into<double, double>(expected.view()) : c.sum_into<float, float>(expected.view());
  return expected;
}

/// Frames included.
void require_same(const Matrix& found, const Matrix& expected) {
  REQUIRE(differing_elements(found.all.view, expected.all.view) == 0);
}

void check_variant(const Case& c, std::initializer_list<GemmVariant> variants = {
                                      GemmVariant::thread_per_element, GemmVariant::shared_tiles,
                                      GemmVariant::register_tiles}) {
  const Stream stream;
  const test::DeviceImage a(c.a.all.view, stream.get()), b(c.b.all.view, stream.get()),
      added(c.added.all.view, stream.get());
  const Matrix expected = expected_of(c);
  for (const GemmVariant variant : variants) {
    INFO(name_of(variant) << ", " << text_of(c));
    const test::DeviceImage out(c.out.all.view, stream.get());
    gemm_by_variant(variant,
                    c.operands_of(a.view().crop(c.a.inside), b.view().crop(c.b.inside),
                                  added.view().crop(c.added.inside)),
                    out.view().crop(c.out.inside), stream.get());
    const Matrix found = c.empty_result();
    out.download(found.all.view, stream);
    require_same(found, expected);
  }
}

/// The same bytes in page-locked memory.
struct PinnedMatrix {
  explicit PinnedMatrix(const Matrix& matrix)
      : memory(matrix.all.buffer.size(), pinned_resource()), all(matrix.all.view) {
    all.data = memory.data();
    std::memcpy(memory.data(), matrix.all.buffer.data(), static_cast<std::size_t>(memory.size()));
  }
  Buffer memory;
  PixelView all;
};

void check_zero_copy(ZeroCopyVariant variant, int side, const Case& c, int runs = 2) {
  INFO(name_of(variant) << ", " << side << " x " << side << ", " << text_of(c));
  const Stream stream;
  const PinnedMatrix a(c.a), b(c.b);
  const TileCache cache(c.shape, c.out.all.view.type, side);
  const Matrix expected = expected_of(c);
  for (int run = 0; run < runs; ++run) {  // the second run uses the cache that the first has filled
    const test::DeviceImage out(c.out.all.view, stream.get());
    gemm_zero_copy(variant, {.a = a.all.crop(c.a.inside), .b = b.all.crop(c.b.inside)}, cache,
                   out.view().crop(c.out.inside), stream.get());
    const Matrix found = c.empty_result();
    out.download(found.all.view, stream);
    require_same(found, expected);
  }
}

}  // namespace

TEST_CASE("every variant of the gemm benchmark sums over ascending k, whatever is transposed", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  for (const PixelType type : kTypes) {
    for (const GemmShape& shape : kShapes) {
      for (const Padding padding : kPaddings) {
        for (const bool trans_a : {false, true}) {
          for (const bool trans_b : {false, true})
            check_variant(Case(shape, type, trans_a, trans_b, trans_b, padding));
        }
      }
    }
  }
}

TEST_CASE("the register tiles on several blocks each way", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  for (const PixelType type : kTypes) {
    for (const GemmShape& shape : {GemmShape{385, 259, 101}, GemmShape{384, 256, 96}}) {
      check_variant(Case(shape, type, false, false, true), {GemmVariant::register_tiles});
      check_variant(Case(shape, type, true, true, false, {1, 0}), {GemmVariant::register_tiles});
    }
  }
}

TEST_CASE("the zero-copy variants fetch every tile once and right, for any shape and block", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  for (const ZeroCopyVariant variant : kZeroCopyVariants) {
    for (const int side : kZeroCopySides) {
      for (const PixelType type : kTypes) {
        for (const GemmShape& shape : kShapes)
          check_zero_copy(variant, side, Case(shape, type, false, false, false, {1, 2}));
      }
    }
  }
}

TEST_CASE("every variant of the gemm benchmark: one size", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  for (const PixelType type : kTypes) {
    check_variant(Case({33, 41, 19}, type, false, false, false, {0, 1}));
    check_variant(Case({140, 70, 12}, type, true, false, false));
    check_variant(Case({20, 131, 21}, type, false, true, true));
    for (const ZeroCopyVariant variant : kZeroCopyVariants) {
      for (const int side : kZeroCopySides)
        check_zero_copy(variant, side, Case({41, 35, 37}, type, false, false, false));
    }
  }
}

TEST_CASE("sums over nothing are zero, or what is added", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  check_variant(Case({5, 6, 0}, PixelType::f32, false, false, false));
  check_variant(Case({5, 6, 0}, PixelType::f64, true, true, true));
  check_variant(Case({0, 6, 3}, PixelType::f64, false, false, false));
}

TEST_CASE("the zero-copy variants refuse what they cannot multiply", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Stream stream;
  const Case plain({5, 6, 7}, PixelType::f32, false, false, false),
      transposed({5, 6, 7}, PixelType::f32, true, false, false);
  const Case adding({5, 6, 7}, PixelType::f32, false, false, true);
  const TileCache cache({5, 6, 7}, PixelType::f32, 8), other({5, 6, 8}, PixelType::f32, 8),
      wide({5, 6, 7}, PixelType::f64, 8);
  const auto multiply = [&](const Case& c, const TileCache& tiles) {
    gemm_zero_copy(ZeroCopyVariant::shared, c.operands(), tiles, c.out.view(), stream.get());
  };
  CHECK_THROWS_AS(multiply(transposed, cache), InvalidArgument);
  CHECK_THROWS_AS(multiply(adding, cache), InvalidArgument);
  CHECK_THROWS_AS(multiply(plain, other), InvalidArgument);
  CHECK_THROWS_AS(multiply(plain, wide), InvalidArgument);
  CHECK_THROWS_AS(TileCache({5, 6, 7}, PixelType::f32, 12), InvalidArgument);
}

#ifndef SEPCONV_SIMULATED_GPU  // only on a real GPU

TEST_CASE("the zero-copy variants with more blocks than a GPU holds at a time", "[gpu][slow]") {
  SEPCONV_NEEDS_GPU();
  for (const ZeroCopyVariant variant : kZeroCopyVariants) {
    for (const int side : kZeroCopySides)
      check_zero_copy(variant, side, Case({1500, 1400, 50}, PixelType::f32, false, false, false), 5);
  }
}

TEST_CASE("what a launch of the gemm benchmark takes of a multiprocessor", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const auto check = [](const KernelFacts& facts, int threads, std::int64_t shared_bytes) {
    CHECK(facts.block_threads == threads);
    CHECK(facts.shared_bytes == shared_bytes);
    CHECK((facts.registers > 0 && facts.registers <= 255));
    CHECK((facts.occupancy > 0 && facts.occupancy <= 1));
  };
  check(gemm_facts(GemmVariant::thread_per_element, PixelType::f32, false, false), 256, 0);
  check(gemm_facts(GemmVariant::shared_tiles, PixelType::f64, false, true), 256,
        std::int64_t{2} * 16 * 17 * 8);
  check(gemm_facts(GemmVariant::register_tiles, PixelType::f32, true, false), 256,
        std::int64_t{4} * 8 * 132 * 4);
  check(gemm_facts(GemmVariant::register_tiles, PixelType::f64, true, false), 256,
        std::int64_t{2} * 8 * (130 + 66) * 8);
  for (const int side : kZeroCopySides) {
    check(gemm_facts(ZeroCopyVariant::shared, PixelType::f32, side), side * side,
          std::int64_t{2} * side * side * 4);
    CHECK(gemm_facts(ZeroCopyVariant::global, PixelType::f32, side).shared_bytes <=
          64);  // the barriers may use some
  }
}

TEST_CASE("the zero-copy variants refuse memory that is not page-locked", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Stream stream;
  const Case c({5, 6, 7}, PixelType::f32, false, false, false);
  const TileCache cache(c.shape, PixelType::f32, 8);
  CHECK_THROWS_WITH(gemm_zero_copy(ZeroCopyVariant::global, c.operands(), cache, c.out.view(), stream.get()),
                    Catch::Matchers::Contains("page-locked"));
}

#endif
