// The CUDA kernel chosen for a transposition, and its simplification. Needs no GPU.
#include <catch2/catch.hpp>

#include "kernels/transpose/permutation.hpp"
#include "kernels/transpose/tiles.hpp"

using namespace sepconv;
using namespace sepconv::transposing;
using Kernel = CudaPlan::Kernel;

namespace {

constexpr std::int64_t kAligned = 4096;  // an address, never accessed

CudaPlan plan(const TransposeShape& shape, std::int64_t in_address = kAligned, std::int64_t in_padding = 0) {
  const std::int64_t in_pitch = shape.cols * shape.element_bytes + in_padding;
  const std::int64_t out_pitch = shape.rows * shape.element_bytes;
  return plan_transpose(shape,
                        {reinterpret_cast<const std::byte*>(in_address), in_pitch, in_pitch * shape.rows},
                        {reinterpret_cast<std::byte*>(kAligned), out_pitch, out_pitch * shape.cols});
}

CudaPlan plan(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes) {
  const PermutationAsTranspose work = as_transpose(extent, permutation, element_bytes);
  return plan_transpose(
      work.shape, {reinterpret_cast<const std::byte*>(kAligned), work.in_pitch_bytes, work.in_item_bytes},
      {reinterpret_cast<std::byte*>(kAligned), work.out_pitch_bytes, work.out_item_bytes});
}

}  // namespace

TEST_CASE("the CUDA kernel of a transposition follows from its shape and alignment") {
  for (const std::int64_t bytes : {1, 2, 4, 8, 16})
    CHECK(plan({1, 1024, 1024, bytes}).kernel == Kernel::tile);
  for (const std::int64_t bytes : {1, 2, 4, 8}) CHECK(plan({1, 1001, 1003, bytes}).kernel == Kernel::shifted);
  for (const std::int64_t bytes : {3, 6, 12}) CHECK(plan({1, 1001, 1003, bytes}).kernel == Kernel::pixels);
  for (const std::int64_t bytes : {5, 24, 100}) CHECK(plan({1, 1000, 1000, bytes}).kernel == Kernel::staged);
  CHECK(plan({1, 1000, 1000, 4096}).kernel == Kernel::runs);
  CHECK(plan({1, 1000, 1000, 1001}).kernel == Kernel::runs);
  CHECK(plan({1, 1024, 1001, 1}).kernel == Kernel::shifted);  // input rows start at any alignment
  CHECK(plan({1, 1000, 1000, 4}, kAligned + 1).kernel == Kernel::staged);
  CHECK(plan({1, 1000, 1000, 4}, kAligned, 2).staged.unit_bytes == 2);
  for (const std::int64_t bytes : {1, 2, 4, 8, 16}) {
    for (const std::int64_t short_side : {2, 3, 7, 9}) {
      const int planes = short_side <= 8 && bytes < 16 ? static_cast<int>(short_side) : 0;
      CHECK(plan({1, 100000, short_side, bytes}).comb.rows_dense);
      CHECK(plan({1, 100000, short_side, bytes}).kernel == Kernel::comb);
      CHECK(plan({1, 100000, short_side, bytes}).comb.planes == planes);
      CHECK(plan({1, 100000, short_side, bytes}, kAligned + bytes).comb.planes ==
            planes);  // pixels start at any alignment
      CHECK_FALSE(plan({1, short_side, 100000, bytes}).comb.rows_dense);
      CHECK(plan({1, short_side, 100000, bytes}).kernel == Kernel::comb);
      CHECK(plan({1, short_side, 100000, bytes}).comb.planes == planes);
      if (bytes < 16) CHECK(plan({1, short_side, 100000, bytes}, kAligned + bytes).comb.shifted);
    }
  }
  CHECK(plan({1, 100001, 3, 1}).kernel == Kernel::comb);
  CHECK_FALSE(plan({1, 100000, 3, 1}).comb.shifted);
  CHECK(plan({1, 100001, 3, 1}).comb.shifted);  // planes of an odd size
  CHECK(plan({1, 100001, 3, 1}).comb.planes == 3);
  CHECK(plan({1, 100001, 5, 1}).comb.planes == 0);
  CHECK(plan({100000, 8, 8, 1}).small.micro);
  CHECK_FALSE(plan({100000, 8, 7, 1}).small.micro);
  CHECK_FALSE(plan({100000, 3, 3, 1}).small.micro);
  CHECK(plan({1, 100000, 32, 4}).form == CudaPlan::Form::narrow);
  CHECK(plan({1, 32, 100000, 4}).form == CudaPlan::Form::flat);
  CHECK(plan({1, 1000, 1000, 4}).form == CudaPlan::Form::square);
  CHECK(plan({1000, 50, 50, 4}).kernel == Kernel::tile);
  for (const std::int64_t bytes : {1, 2, 3, 4, 6, 8, 12, 16}) {
    CHECK(plan({100000, 8, 8, bytes}).kernel == Kernel::small);
    CHECK(plan({100000, 8, 8, bytes}).small.tile_items > 1);
  }
  CHECK(plan({1, 100000, 3, 4}, kAligned, 4).kernel == Kernel::staged);  // some columns of a wide matrix
  CHECK(plan({1, 0, 3, 4}).kernel == Kernel::none);
}

TEST_CASE("what is a copy is done as a copy") {
  CHECK(plan({1, 1, 1000, 4}).kernel == Kernel::copy);
  CHECK(plan({1, 1000, 1, 4}).kernel == Kernel::copy);
  CHECK(plan({7, 1, 1000, 3}).kernel == Kernel::copy);
  CHECK(plan({20, 30, 40}, {{0, 1, 2}}, 4).kernel == Kernel::copy);
  CHECK(plan({20, 30, 40}, {{0, 1, 2}}, 4).job.element_bytes == 20 * 30 * 40 * 4);
  CHECK(plan({1, 1000, 1, 4}, kAligned, 4).kernel == Kernel::staged);  // a column of an image
}

TEST_CASE("items that follow one another are one matrix") {
  Job job{.in_pitch = 40,
          .in_item = 400,
          .out_pitch = 4000,
          .out_item = 40,
          .items = 5,
          .rows = 10,
          .cols = 10,
          .element_bytes = 4};
  CHECK(simplified(job).items == 1);
  CHECK(simplified(job).rows == 50);
  std::swap(job.in_pitch, job.out_pitch);
  std::swap(job.in_item, job.out_item);
  CHECK(simplified(job).items == 1);
  CHECK(simplified(job).cols == 50);
}

TEST_CASE("a staged tile fits shared memory whatever the element") {
  for (std::int64_t bytes = 1; bytes <= 8192; bytes = bytes < 70 ? bytes + 1 : bytes * 5 / 4) {
    for (const std::int64_t rows : {1, 2, 3, 31, 1000}) {
      for (const std::int64_t cols : {1, 2, 3, 100, 5000}) {
        const TransposeShape shape{rows == 31 ? 50 : 1, rows, cols, bytes};
        const CudaPlan p = plan_transpose(
            Kernel::staged, shape, {reinterpret_cast<const std::byte*>(kAligned), cols * bytes + 1, 1 << 30},
            {reinterpret_cast<std::byte*>(kAligned), rows * bytes + 5, 1 << 30});
        CAPTURE(bytes, rows, cols);
        REQUIRE(p.kernel == Kernel::staged);
        CHECK(p.staged.shared_bytes <= 48 << 10);
        CHECK(p.staged.job.grid.count() > 0);
      }
    }
  }
}
