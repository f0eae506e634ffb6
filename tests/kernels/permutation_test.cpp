// Permutations of three axes: NumPy's results, the reduction to transposition, and inverses.
#include "kernels/transpose/permutation.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "core/error.hpp"
#include "random_image.hpp"

using namespace sepconv;

namespace {

std::vector<std::byte> random_bytes(std::int64_t count, Random& random) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count));
  for (std::byte& byte : bytes) byte = std::byte(random() & 0xff);
  return bytes;
}

}  // namespace

TEST_CASE("permute_reference gives NumPy's numbers") {
  // numpy.transpose(numpy.arange(24, dtype=numpy.uint8).reshape(2, 3, 4), axes).ravel()
  const std::vector<int> expected[] = {
      {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23},
      {0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 12, 16, 20, 13, 17, 21, 14, 18, 22, 15, 19, 23},
      {0, 1, 2, 3, 12, 13, 14, 15, 4, 5, 6, 7, 16, 17, 18, 19, 8, 9, 10, 11, 20, 21, 22, 23},
      {0, 12, 1, 13, 2, 14, 3, 15, 4, 16, 5, 17, 6, 18, 7, 19, 8, 20, 9, 21, 10, 22, 11, 23},
      {0, 4, 8, 12, 16, 20, 1, 5, 9, 13, 17, 21, 2, 6, 10, 14, 18, 22, 3, 7, 11, 15, 19, 23},
      {0, 12, 4, 16, 8, 20, 1, 13, 5, 17, 9, 21, 2, 14, 6, 18, 10, 22, 3, 15, 7, 19, 11, 23}};
  std::vector<std::uint8_t> in(24);
  std::iota(in.begin(), in.end(), std::uint8_t{0});
  for (std::size_t i = 0; i < 6; ++i) {
    const Permutation& permutation = all_permutations()[i];
    INFO(to_string(permutation));
    std::vector<std::uint8_t> out(24);
    permute_reference({2, 3, 4}, permutation, 1, reinterpret_cast<const std::byte*>(in.data()),
                      reinterpret_cast<std::byte*>(out.data()));
    CHECK(std::vector<int>(out.begin(), out.end()) == expected[i]);
  }
}

TEST_CASE("permute_host has the reference's bytes, and the inverse undoes it") {
  Random random(41);
  SerialExecutor executor;
  const std::int64_t lengths[] = {1, 2, 3, 4, 5, 16, 17, 33, 64, 67};
  const std::int64_t elements[] = {1, 2, 3, 4, 6, 8, 12, 16, 24};
  for (int i = 0; i < 300; ++i) {
    const TensorExtent extent{random_choice(random, lengths), random_choice(random, lengths),
                              random_choice(random, lengths)};
    const std::int64_t bytes = random_choice(random, elements);
    const std::vector<std::byte> in = random_bytes(extent[0] * extent[1] * extent[2] * bytes, random);
    for (const Permutation& permutation : all_permutations()) {
      INFO(extent[0] << " x " << extent[1] << " x " << extent[2] << " of " << bytes << " bytes by "
                     << to_string(permutation));
      std::vector<std::byte> expected(in.size(), std::byte{0xa5});
      std::vector<std::byte> actual = expected;
      std::vector<std::byte> back = expected;
      permute_reference(extent, permutation, bytes, in.data(), expected.data());
      permute_host(extent, permutation, bytes, in.data(), actual.data(), executor);
      REQUIRE(actual == expected);
      permute_host(permuted(extent, permutation), permutation.inverse(), bytes, actual.data(), back.data(),
                   executor);
      REQUIRE(back == in);
    }
  }
}

TEST_CASE("a permutation that moves nothing is one row") {
  for (const Permutation& permutation : all_permutations()) {
    CHECK(as_transpose({1, 1, 9}, permutation, 2).shape.cols *
              as_transpose({1, 1, 9}, permutation, 2).shape.rows ==
          9);
  }
  CHECK(as_transpose({2, 3, 4}, {}, 2).shape == TransposeShape{1, 1, 24, 2});
  CHECK(as_transpose({1, 3, 4}, {{1, 0, 2}}, 2).shape == TransposeShape{1, 1, 12, 2});
  CHECK(as_transpose({3, 1, 4}, {{2, 1, 0}}, 2).shape == as_transpose({1, 3, 4}, {{0, 2, 1}}, 2).shape);
}

TEST_CASE("permutations are read and written") {
  for (const Permutation& permutation : all_permutations()) {
    CHECK(parse_permutation(to_string(permutation)) == permutation);
    CHECK(permutation.inverse().inverse() == permutation);
  }
  CHECK(to_string({{2, 0, 1}}) == "2,0,1");
  CHECK(Permutation{{2, 0, 1}}.inverse() == Permutation{{1, 2, 0}});
  CHECK(parse_permutation("1,0") == Permutation{{1, 0, 2}});
  CHECK(parse_permutation("0,1") == Permutation{});
  for (const char* bad : {"", "0", "0,0,1", "0,1,3", "0,1,2,", "2,0,1 ", "a,b,c"}) {
    CHECK_THROWS_AS(parse_permutation(bad), InvalidArgument);
  }
  CHECK(permuted({2, 3, 4}, {{2, 0, 1}}) == TensorExtent{4, 2, 3});
}

TEST_CASE("permutations refuse what cannot be") {
  SerialExecutor executor;
  CHECK_THROWS_AS(permute_host({1, -1, 1}, {}, 1, nullptr, nullptr, executor), InvalidArgument);
  CHECK_THROWS_AS(permute_host({1, 1, 1}, {{0, 0, 1}}, 1, nullptr, nullptr, executor), InvalidArgument);
  CHECK_THROWS_AS(permute_reference({1, 1, 1}, {}, 0, nullptr, nullptr), InvalidArgument);
  CHECK_NOTHROW(permute_host({0, 3, 4}, {{2, 1, 0}}, 1, nullptr, nullptr, executor));
}
