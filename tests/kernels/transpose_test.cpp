// Transposition on the host: the reference against known results, then every instruction set, element size
// and layout against the reference.
#include <catch2/catch.hpp>
#include <thread>

#include "core/error.hpp"
#include "kernels/simd/targets.hpp"
#include "transpose_case.hpp"

using namespace sepconv;

namespace {

/// Three threads that execute the tasks round-robin, last task first.
class ThreadsExecutor final : public Executor {
 public:
  int concurrency() const noexcept override { return 3; }
  void for_each(std::int64_t count, const std::function<void(std::int64_t, int)>& task) override {
    tasks = count;
    std::vector<std::jthread> threads;
    for (int worker = 0; worker < concurrency(); ++worker) {
      threads.emplace_back([=, &task, this] {
        for (std::int64_t i = count - 1 - worker; i >= 0; i -= concurrency()) task(i, worker);
      });
    }
  }
  std::int64_t tasks = 0;
};

void check_case(TransposeCase& test) {
  INFO(test.shape);
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    REQUIRE(simd_target() == target);
    INFO("on " << target);
    test.actual.fill_poison();
    transpose_host(test.shape, test.in.view(), test.actual.view());
    REQUIRE(test.actual.bytes() == test.expected.bytes());
  }
  ThreadsExecutor executor;
  test.actual.fill_poison();
  transpose_host(test.shape, test.in.view(), test.actual.view(), executor);
  REQUIRE(test.actual.bytes() == test.expected.bytes());
}

void check_shape(const TransposeShape& shape, Random& random) {
  TransposeCase dense(shape, {}, {}, random);
  check_case(dense);
  TransposeCase with_gaps(shape, random_layout(random), random_layout(random), random);
  check_case(with_gaps);
}

constexpr std::int64_t kElementBytes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10,  11, 12,
                                          13, 14, 15, 16, 17, 24, 33, 64, 65, 100, 600};
constexpr std::int64_t kLengths[] = {1,  2,  3,  4,  5,  7,  8,  9,  15,  16,  17,
                                     31, 32, 33, 53, 63, 64, 65, 97, 127, 128, 129};

}  // namespace

TEST_CASE("transpose_reference transposes") {
  const std::uint8_t in[] = {1, 2, 3, 4, 5, 6};
  std::uint8_t out[6] = {};
  transpose_reference({1, 2, 3, 1}, {reinterpret_cast<const std::byte*>(in), 3, 6},
                      {reinterpret_cast<std::byte*>(out), 2, 6});
  CHECK(std::vector<int>(out, out + 6) == std::vector<int>{1, 4, 2, 5, 3, 6});
  transpose_reference({3, 2, 1, 1}, {reinterpret_cast<const std::byte*>(in), 3, 1},
                      {reinterpret_cast<std::byte*>(out), 9, 2});
  CHECK(std::vector<int>(out, out + 6) == std::vector<int>{1, 4, 2, 5, 3, 6});
}

TEST_CASE("transpose_host has the reference's bytes for every element and length") {
  Random random(31);
  for (const std::int64_t element_bytes : kElementBytes) {
    for (const std::int64_t rows : kLengths) {
      const std::int64_t cols = random_choice(random, kLengths);
      check_shape({1, rows, cols, element_bytes}, random);
      check_shape({random_between(random, 2, 5), random_choice(random, kLengths), rows, element_bytes},
                  random);
    }
  }
}

TEST_CASE("transpose_host: few rows or columns, short or long") {
  Random random(32);
  for (const std::int64_t element_bytes : {1, 2, 3, 4, 8, 12, 16}) {
    for (std::int64_t short_side = 1; short_side <= 6; ++short_side) {
      const std::int64_t long_side = random_between(random, 2000, 20000);
      check_shape({1, short_side, long_side, element_bytes}, random);
      check_shape({1, long_side, short_side, element_bytes}, random);
      check_shape({long_side, short_side, random_between(random, 1, 6), element_bytes}, random);
    }
  }
}

TEST_CASE("transpose_host: results that go around the caches, cut into pieces") {
  Random random(33);
  for (const std::int64_t element_bytes : {1, 2, 3, 4, 6, 8, 16, 100, 600}) {
    const std::int64_t rows = random_between(random, 700, 2100);
    const std::int64_t cols = (std::int64_t(9) << 19) / rows / element_bytes + 1;
    check_shape({1, rows, cols, element_bytes}, random);
    TransposeCase lines({1, rows, cols, element_bytes}, {}, {64 - rows * element_bytes % 64, 16, false},
                        random);
    check_case(lines);
  }
  check_shape({300, 33, 129, 4}, random);
  check_shape({3, 1030, 520, 4}, random);
}

TEST_CASE("work is cut so that all threads have some") {
  Random random(34);
  ThreadsExecutor executor;
  const TransposeShape shapes[] = {{1, 1024, 1024, 1}, {1, 1, 1 << 20, 1}, {1, 1 << 20, 1, 1},
                                   {1, 3, 1 << 19, 1}, {1, 1 << 19, 3, 1}, {1 << 18, 2, 3, 1},
                                   {1, 2, 2, 1 << 18}};
  for (const TransposeShape& shape : shapes) {
    INFO(shape);
    TransposeCase test(shape, {}, {}, random);
    transpose_host(shape, test.in.view(), test.actual.view(), executor);
    CHECK(test.actual.bytes() == test.expected.bytes());
    CHECK((executor.tasks >= executor.concurrency() || shape.element_bytes > 1));
  }
}

TEST_CASE("transposing twice gives back what there was") {
  Random random(35);
  TransposeCase test({2, 130, 67, 3}, {}, {}, random);
  transpose_host(test.shape, test.in.view(), test.actual.view());
  MatricesBuffer back(2, 130, 67 * 3, {});
  transpose_host({2, 67, 130, 3}, test.actual.view(), back.view());
  CHECK(back.bytes() == test.in.bytes());
}

TEST_CASE("empty matrices do nothing, impossible ones are refused") {
  const ConstMatrices in{};
  const Matrices out{};
  SerialExecutor executor;
  for (const TransposeShape& empty : {TransposeShape{0, 3, 3, 1}, {1, 0, 3, 1}, {1, 3, 0, 1}}) {
    CHECK_NOTHROW(transpose_reference(empty, in, out));
    CHECK_NOTHROW(transpose_host(empty, in, out));
    CHECK_NOTHROW(transpose_host(empty, in, out, executor));
  }
  for (const TransposeShape& bad :
       {TransposeShape{-1, 3, 3, 1}, {1, -1, 3, 1}, {1, 3, -1, 1}, {1, 3, 3, 0}}) {
    CHECK_THROWS_AS(transpose_reference(bad, in, out), InvalidArgument);
    CHECK_THROWS_AS(transpose_host(bad, in, out), InvalidArgument);
    CHECK_THROWS_AS(transpose_host(bad, in, out, executor), InvalidArgument);
  }
}
