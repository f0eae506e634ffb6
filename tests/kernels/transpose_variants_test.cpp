// Every variant of the transpose benchmark against the reference, byte for byte, with poison around the
// result. On the simulated GPU the same file tests the launchers' arguments.
#include <catch2/catch.hpp>
#include <cstring>
#include <random>
#include <vector>

#include "../support/gpu.hpp"
#include "bench/transpose/variants.hpp"
#include "core/error.hpp"

using namespace sepconv;

namespace {

using Bytes = std::vector<std::byte>;

constexpr std::int64_t kElementBytes[] = {1, 2, 4, 8};
constexpr TransposeVariant kTransposeVariants[] = {
    TransposeVariant::one_thread,         TransposeVariant::thread_per_row,
    TransposeVariant::thread_per_element, TransposeVariant::copy,
    TransposeVariant::copy_shared,        TransposeVariant::tiled_32,
    TransposeVariant::tiled_32_padded,    TransposeVariant::tiled_16,
    TransposeVariant::tiled_16_padded,    TransposeVariant::coalesced,
    TransposeVariant::coalesced_padded,   TransposeVariant::tiled_8_padded};
constexpr PermuteVariant kPermuteVariants[] = {PermuteVariant::copy,          PermuteVariant::copy_shared,
                                               PermuteVariant::simple,        PermuteVariant::simple_template,
                                               PermuteVariant::shared,        PermuteVariant::shared_template,
                                               PermuteVariant::conflict_free, PermuteVariant::tile_2d_32,
                                               PermuteVariant::tile_2d_8};
// Around the tiles of 8, 16 and 32, primes, narrow and short matrices.
constexpr Extent kExtents[] = {{1, 1},    {1, 97},   {97, 1},    {2, 3},   {7, 9},   {8, 8},
                               {15, 17},  {16, 16},  {31, 33},   {32, 32}, {33, 31}, {61, 67},
                               {3, 1500}, {1500, 3}, {130, 129}, {600, 41}};
constexpr TensorExtent kTensors[] = {
    {1, 1, 1},   {1, 1, 97},  {97, 1, 1},  {1, 97, 1},  {2, 3, 5},    {7, 8, 9},   {8, 8, 8},   {9, 7, 8},
    {16, 17, 3}, {31, 2, 33}, {64, 33, 3}, {3, 64, 33}, {13, 29, 31}, {40, 1, 70}, {1, 65, 66}, {300, 5, 7}};

Bytes random_bytes(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  Bytes bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
  return bytes;
}

/// A copy of host bytes in device memory.
class DeviceBytes {
 public:
  explicit DeviceBytes(const Bytes& host)
      : memory_(static_cast<std::int64_t>(host.size()), device_resource()) {
    const Stream stream;
    copy_rows(data(), memory_.size(), host.data(), memory_.size(), memory_.size(), 1, stream.get());
    stream.synchronize();
  }
  std::byte* data() const { return memory_.data(); }
  Bytes download() const {
    Bytes host(static_cast<std::size_t>(memory_.size()));
    const Stream stream;
    copy_rows(host.data(), memory_.size(), data(), memory_.size(), memory_.size(), 1, stream.get());
    stream.synchronize();
    return host;
  }

 private:
  Buffer memory_;
};

/// Checks two matrices of this extent with padding after their rows, between them and after them.
void check_matrices(TransposeVariant variant, Extent extent, std::int64_t element_bytes) {
  const TransposeShape shape{2, extent.rows, extent.cols, element_bytes};
  const auto [out_rows, out_cols] = only_copies(variant) ? extent : Extent{extent.cols, extent.rows};
  const std::int64_t in_pitch = (extent.cols + 3) * element_bytes, in_item = (extent.rows + 1) * in_pitch;
  const std::int64_t out_pitch = (out_cols + 1) * element_bytes, out_item = (out_rows + 2) * out_pitch;
  const Bytes source = random_bytes(2 * in_item, 5);
  Bytes expected(static_cast<std::size_t>(2 * out_item), std::byte{0xA5});
  const DeviceBytes in(source), out(expected);

  const Matrices to{expected.data(), out_pitch, out_item};
  if (only_copies(variant)) {
    for (std::int64_t row = 0; row < 2 * extent.rows; ++row) {
      const std::int64_t item = row / extent.rows, line = row % extent.rows;
      std::memcpy(to.data + item * out_item + line * out_pitch,
                  source.data() + item * in_item + line * in_pitch,
                  static_cast<std::size_t>(extent.cols * element_bytes));
    }
  } else {
    transpose_reference(shape, {source.data(), in_pitch, in_item}, to);
  }

  const Stream stream;
  transpose_by_variant(variant, shape, {in.data(), in_pitch, in_item}, {out.data(), out_pitch, out_item},
                       stream.get());
  stream.synchronize();
  INFO(name_of(variant) << ", " << extent.rows << " x " << extent.cols << " of " << element_bytes
                        << " bytes");
  REQUIRE(out.download() == expected);
}

void check_tensor(PermuteVariant variant, const TensorExtent& extent, const Permutation& permutation,
                  std::int64_t element_bytes) {
  const std::int64_t bytes = extent[0] * extent[1] * extent[2] * element_bytes;
  constexpr std::size_t kFrame = 64;  // after the result
  const Bytes source = random_bytes(bytes, 6);
  Bytes expected(static_cast<std::size_t>(bytes) + kFrame, std::byte{0xA5});
  const DeviceBytes in(source), out(expected);
  permute_reference(extent, only_copies(variant) ? Permutation() : permutation, element_bytes, source.data(),
                    expected.data());

  const Stream stream;
  permute_by_variant(variant, permute_tile(variant, permutation, element_bytes), extent, permutation,
                     element_bytes, in.data(), out.data(), stream.get());
  stream.synchronize();
  INFO(name_of(variant) << ", " << extent[0] << " x " << extent[1] << " x " << extent[2] << " by "
                        << to_string(permutation) << ", " << element_bytes << " bytes");
  REQUIRE(out.download() == expected);
}

}  // namespace

TEST_CASE("every transposition variant equals the reference, byte for byte", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  for (const TransposeVariant variant : kTransposeVariants) {
    for (const Extent extent : kExtents) {
      for (const std::int64_t bytes : kElementBytes) check_matrices(variant, extent, bytes);
    }
  }
}

TEST_CASE("every permutation variant equals the reference, byte for byte", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  for (const Permutation& permutation : all_permutations()) {
    for (const PermuteVariant variant : kPermuteVariants) {
      if (!can_permute(variant, permutation)) continue;
      for (const TensorExtent& extent : kTensors) {
        for (const std::int64_t bytes : kElementBytes) check_tensor(variant, extent, permutation, bytes);
      }
    }
  }
}

TEST_CASE("every variant of the transpose benchmark: one size", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  for (const TransposeVariant variant : kTransposeVariants) check_matrices(variant, {41, 70}, 4);
  for (const Permutation& permutation : all_permutations()) {
    for (const PermuteVariant variant : kPermuteVariants) {
      if (can_permute(variant, permutation)) check_tensor(variant, {9, 10, 35}, permutation, 2);
    }
  }
}

TEST_CASE("the plain loops are the reference, on one thread and in pieces") {
  // Splits the work as for three threads, but runs the tasks on one.
  struct Pieces final : Executor {
    int concurrency() const noexcept override { return 3; }
    void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
      for (std::int64_t index = count; index-- > 0;) task(index, 0);
    }
  } pieces;
  SerialExecutor serial;
  for (const TensorExtent& extent : kTensors) {
    for (const Permutation& permutation : all_permutations()) {
      for (const std::int64_t bytes : kElementBytes) {
        const Bytes source = random_bytes(extent[0] * extent[1] * extent[2] * bytes, 7);
        Bytes expected(source.size()), serial_result(source.size()), split_result(source.size());
        permute_reference(extent, permutation, bytes, source.data(), expected.data());
        permute_loop(extent, permutation, bytes, source.data(), serial_result.data(), serial);
        permute_loop(extent, permutation, bytes, source.data(), split_result.data(), pieces);
        INFO(extent[0] << " x " << extent[1] << " x " << extent[2] << " by " << to_string(permutation) << ", "
                       << bytes << " bytes");
        REQUIRE(serial_result == expected);
        REQUIRE(split_result == expected);
      }
    }
  }
  CHECK_THROWS_AS(permute_loop({1, 2, 3}, {}, 3, nullptr, nullptr, serial), InvalidArgument);
}

TEST_CASE("the padded tiles of the permutation variants read without bank conflicts") {
  for (const Permutation& permutation : all_permutations()) {
    for (const std::int64_t bytes : kElementBytes) {
      const TileExtent tile = permute_tile(PermuteVariant::conflict_free, permutation, bytes);
      INFO(to_string(permutation) << ", " << bytes << " bytes: " << tile[0] << "," << tile[1] << ","
                                  << tile[2]);
      const TileAccess access{{8, 8, 8}, permutation, static_cast<int>(bytes)};
      CHECK(count_conflicts(access, tile).read == 0);
      CHECK(tile[0] * tile[1] * tile[2] * bytes <= 48 << 10);
      CHECK(permute_tile(PermuteVariant::shared_template, permutation, bytes) == TileExtent{8, 8, 8});
    }
  }
}

TEST_CASE("the transpose benchmark rejects unsupported arguments, without a GPU too") {
  std::byte memory[64] = {};
  const auto transpose = [&](const TransposeShape& shape, std::int64_t pitch, std::int64_t offset) {
    transpose_by_variant(TransposeVariant::coalesced, shape, {memory + offset, pitch, 0}, {memory, 16, 0},
                         nullptr);
  };
  CHECK_THROWS_AS(transpose({1, 2, 2, 3}, 16, 0), InvalidArgument);
  CHECK_THROWS_AS(transpose({1, 2, 2, 16}, 32, 0), InvalidArgument);
  CHECK_THROWS_AS(transpose({1, 2, -2, 4}, 16, 0), InvalidArgument);
  CHECK_THROWS_AS(transpose({1, 2, 2, 4}, 18, 0), InvalidArgument);
  CHECK_THROWS_AS(transpose({1, std::int64_t{1} << 20, std::int64_t{1} << 11, 1}, 16, 0), InvalidArgument);
  CHECK_THROWS_AS(transpose({std::int64_t{1} << 40, std::int64_t{1} << 40, 1, 1}, 16, 0), InvalidArgument);
  CHECK_NOTHROW(transpose({1, 0, 5, 4}, 16, 0));

  const TileExtent cube{8, 8, 8};
  const auto permute = [&](PermuteVariant variant, const TileExtent& tile, const Permutation& permutation,
                           std::int64_t bytes) {
    permute_by_variant(variant, tile, {2, 2, 2}, permutation, bytes, memory, memory + 32, nullptr);
  };
  CHECK_THROWS_AS(permute(PermuteVariant::tile_2d_32, cube, {{1, 0, 2}}, 4), InvalidArgument);
  CHECK_THROWS_AS(permute(PermuteVariant::tile_2d_8, cube, {{0, 1, 2}}, 4), InvalidArgument);
  CHECK_THROWS_AS(permute(PermuteVariant::conflict_free, {8, 8, 7}, {{2, 1, 0}}, 4), InvalidArgument);
  CHECK_THROWS_AS(permute(PermuteVariant::conflict_free, {8, 100, 100}, {{2, 1, 0}}, 4), InvalidArgument);
  CHECK_THROWS_AS(permute(PermuteVariant::simple, cube, {{2, 1, 0}}, 12), InvalidArgument);
}
