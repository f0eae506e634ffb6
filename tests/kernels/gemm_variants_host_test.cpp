// The gemm benchmark without a GPU: the host's loops, the check of a product, and rejected arguments.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "../io/threaded_executor.hpp"
#include "bench/gemm/verify.hpp"
#include "core/error.hpp"
#include "gemm_variants_case.hpp"

using namespace sepconv;
using namespace sepconv::gemm_variants_test;

TEST_CASE("the tile cache has room for the tiles of both operands") {
  // 3 x 2 tiles of a, 2 x 1 tiles of b, one flag per tile.
  CHECK(TileCache::device_bytes({17, 8, 9}, PixelType::f64, 8) == (3 * 2 + 2 * 1) * (8 * 8 * 8 + 4));
  CHECK(TileCache::device_bytes({32, 33, 32}, PixelType::f32, 32) == (1 + 2) * (32 * 32 * 4 + 4));
}

TEST_CASE("the host's loops are right on one thread and on several, whatever is transposed") {
  SerialExecutor serial;
  ThreadedExecutor threaded(3);
  for (const GemmLoops loops : {GemmLoops::ijk, GemmLoops::ikj}) {
    for (Executor* const executor : {static_cast<Executor*>(&serial), static_cast<Executor*>(&threaded)}) {
      for (const PixelType type : kTypes) {
        for (const GemmShape& shape : kShapes) {
          for (const bool trans_a : {false, true}) {
            for (const bool trans_b : {false, true}) {
              const Case c(shape, type, trans_a, trans_b, trans_b, {1, 2});
              INFO(text_of(c) << ", " << executor->concurrency() << " threads");
              gemm_loops(loops, c.operands(), c.out.view(), *executor);
              const Image exact({shape.m, shape.n}, 1, PixelType::f64);
              visit_arithmetic(type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32,
                               [&]<class T>(std::type_identity<T>) {
                                 c.sum_into<T, double>(exact.view);
                                 for (std::int64_t i = 0; i < shape.m; ++i) {  // no write outside the result
                                   CHECK(std::isnan(c.out.all.view.row<T>(i)[0]));
                                   CHECK(std::isnan(c.out.all.view.row<T>(i)[shape.n + 2]));
                                 }
                               });
              REQUIRE(!find_wrong_element(c.operands(), c.out.view(), {exact.view, 1}, serial));
            }
          }
        }
      }
    }
  }
}

TEST_CASE("the check of a product finds one wrong element and accepts what rounding explains") {
  SerialExecutor executor;
  const GemmShape shape{9, 11, 100};
  const Case c(shape, PixelType::f32, false, true, true);
  gemm_loops(GemmLoops::ijk, c.operands(), c.out.view(), executor);
  const Image exact({shape.m, shape.n}, 1, PixelType::f64);
  c.sum_into<float, double>(exact.view);
  const auto wrong = [&](std::int64_t step = 1) {
    return find_wrong_element(c.operands(), c.out.view(), {exact.view, step}, executor);
  };
  CHECK(!wrong());

  float& element = c.out.view().row<float>(6)[3];
  const float right = element;
  const float product = c.a.view().row<float>(6)[50] * c.b.view().row<float>(3)[50];
  element = right - product;  // a term is missing
  REQUIRE(wrong());
  CHECK((wrong()->row == 6 && wrong()->col == 3));
  CHECK(to_string(*wrong()).find("element (6, 3) is ") == 0);
  element = right + right * std::numeric_limits<float>::epsilon();
  CHECK(!wrong());
  element = std::numeric_limits<float>::quiet_NaN();
  REQUIRE(wrong());
  CHECK(std::isnan(wrong()->found));
  element = right;

  // Every third row is known: rows 0, 3 and 6.
  const Image some({3, shape.n}, 1, PixelType::f64);
  for (std::int64_t i = 0; i < 3; ++i)
    std::copy_n(exact.view.row<double>(3 * i), shape.n, some.view.row<double>(i));
  const ExpectedRows thirds{some.view, 3};
  CHECK(!find_wrong_element(c.operands(), c.out.view(), thirds, executor));
  c.out.view().row<float>(5)[0] += 1e6F;
  CHECK(!find_wrong_element(c.operands(), c.out.view(), thirds, executor));
  c.out.view().row<float>(3)[0] += 1e6F;
  CHECK(find_wrong_element(c.operands(), c.out.view(), thirds, executor)->row == 3);
  CHECK_THROWS_AS(find_wrong_element(c.operands(), c.out.view(), {c.out.view(), 1}, executor),
                  InvalidArgument);
  CHECK_THROWS_AS(wrong(0), InvalidArgument);
}

TEST_CASE("shapes that do not fit are refused by the gemm benchmark, without a GPU too") {
  SerialExecutor executor;
  const auto refused = [&](const GemmOperands& operands, const PixelView& out) {
    CHECK_THROWS_AS(gemm_loops(GemmLoops::ikj, operands, out, executor), InvalidArgument);
    CHECK_THROWS_AS(gemm_by_variant(GemmVariant::shared_tiles, operands, out, nullptr), InvalidArgument);
  };
  const Case c({4, 5, 6}, PixelType::f32, false, false, true);
  const auto with = [&](auto change) {
    GemmOperands operands = c.operands();
    change(operands);
    return operands;
  };
  refused(with([](GemmOperands& o) { o.trans_a = true; }), c.out.view());
  refused(with([](GemmOperands& o) { o.b.extent.rows = 5; }), c.out.view());
  refused(with([](GemmOperands& o) { o.b.type = PixelType::f64; }), c.out.view());
  refused(with([](GemmOperands& o) { o.added->extent.cols = 4; }), c.out.view());
  refused(c.operands(), c.out.view().crop({0, 0, 3, 5}));
}
