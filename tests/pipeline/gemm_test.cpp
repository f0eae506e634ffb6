// Products in panels and tiles against a triple loop: operands transposed or not, any ceiling, page-locked or
// not, with or without an added matrix.
#include "pipeline/gemm/gemm.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "../support/parse_size.hpp"
#include "core/error.hpp"
#include "io/memory_image.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

#ifdef SEPCONV_SIMULATED_GPU
constexpr bool kSimulated = true;
#else
constexpr bool kSimulated = false;
#endif

/// A matrix of small integers, whose sums are exact in any order, so that results are bit-identical.
struct Matrix {
  Matrix(Extent extent, PixelType type, std::uint64_t seed, bool page_locked = false)
      : spec{extent, 1, type},
        memory(std::max<std::int64_t>(1, spec.bytes()), page_locked ? pinned_resource() : page_resource()) {
    std::mt19937_64 random(seed);
    for (std::int64_t i = 0; i < extent.area(); ++i) {
      const auto value = static_cast<double>(random() % 9) - 4;
      if (type == PixelType::f32) reinterpret_cast<float*>(memory.data())[i] = static_cast<float>(value);
      if (type == PixelType::f64) reinterpret_cast<double*>(memory.data())[i] = value;
    }
  }
  PixelView view() const { return dense_view(memory.data(), spec); }
  /// Compares values, not bits: the sign of a zero sum depends on the BLAS library.
  bool operator==(const Matrix& other) const {
    return spec.type == PixelType::f32 ? equal_values<float>(other) : equal_values<double>(other);
  }
  template <class T>
  bool equal_values(const Matrix& other) const {
    const auto* const left = reinterpret_cast<const T*>(memory.data());
    return std::equal(left, left + spec.extent.area(), reinterpret_cast<const T*>(other.memory.data()));
  }

  ImageSpec spec;
  Buffer memory;
};

struct Case {
  GemmShape shape;
  GemmOp op;
  PixelType type = PixelType::f64;
  bool locked_a = false, locked_b = false, locked_added = false, locked_out = false;
  RunOptions options;
};

/// Runs the case, compares with the reference, and returns the plan.
GemmPlan check(const Case& c) {
  const auto [m, n, k] = c.shape;
  const auto kind = [](bool locked) { return locked ? HostMemory::page_locked : HostMemory::pageable; };
  const Matrix a(c.op.trans_a ? Extent{k, m} : Extent{m, k}, c.type, 1, c.locked_a);
  const Matrix b(c.op.trans_b ? Extent{n, k} : Extent{k, n}, c.type, 2, c.locked_b);
  const Matrix added({m, n}, c.type, 3, c.locked_added);
  const Matrix expected({m, n}, c.type, 3), out({m, n}, c.type, 4, c.locked_out);
  gemm_reference(c.op, a.view(), b.view(), expected.view());
  const auto reader_a = make_memory_reader(a.view(), kind(c.locked_a)),
             reader_b = make_memory_reader(b.view(), kind(c.locked_b)),
             reader_added = make_memory_reader(added.view(), kind(c.locked_added));
  const auto writer = make_memory_writer(out.view(), kind(c.locked_out));
  const GemmReport report = run_gemm(c.op, *reader_a, *reader_b, reader_added.get(), *writer, c.options);
  INFO(describe(report.plan));
  CHECK(out == expected);
  CHECK(report.plan.memory.total() <= report.plan.max_memory_bytes);
  CHECK(report.plan.device_memory.total() <= report.plan.max_device_memory_bytes);
  return report.plan;
}

Case random_case(std::mt19937_64& random, std::int64_t max_side) {
  const auto random_up_to = [&](std::int64_t limit) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  const auto random_bool = [&] { return random() % 2 == 0; };
  Case c;
  c.shape = {random_up_to(max_side), random_up_to(max_side), random_up_to(max_side)};
  c.op = {random_bool(), random_bool(), random_bool() ? 1.0 : -2.0, random_bool() ? 0.0 : 3.0};
  c.type = random_bool() ? PixelType::f32 : PixelType::f64;
  c.locked_a = random_bool(), c.locked_b = random_bool(), c.locked_added = random_bool(),
  c.locked_out = random_bool();
  c.options.threads = static_cast<int>(random_up_to(2));
  c.options.slots = static_cast<int>(random() % 4);
  if (random_bool()) c.options.band_rows = random_up_to(c.shape.m);
  if (random_bool()) c.options.band_cols = random_up_to(c.shape.n);
  return c;
}

/// Sets a ceiling between the minimum and 1.75 times the minimum.
template <class Ceiling>
void tighten(std::mt19937_64& random, Case& c, const Ceiling& ceiling) {
  ceiling(c.options) = 1;
  std::int64_t min_ceiling = 0;
  try {
    check(c);
    return;  // page-locked matrices need no further host memory
  } catch (const OutOfMemory& error) {
    min_ceiling = test::parse_size_after(error.what(), "product is ").bytes;
  }
  ceiling(c.options) =
      min_ceiling + static_cast<std::int64_t>(random() % 4 * static_cast<std::uint64_t>(min_ceiling) / 4);
}

#ifndef SEPCONV_SIMULATED_GPU
bool lacks_blas() {
  if (!gemm_host_library().empty()) return false;
  WARN("skipped: no OpenBLAS");
  return true;
}
#endif

}  // namespace

#ifndef SEPCONV_SIMULATED_GPU
TEST_CASE("a product on the CPU equals a triple loop, for any ceiling") {
  if (lacks_blas()) return;
  std::mt19937_64 random(7);
  for (int i = 0; i < 60; ++i) {
    Case c = random_case(random, 200);
    c.locked_a = c.locked_b = c.locked_added = c.locked_out = false;
    CAPTURE(i);
    if (i % 3 != 0)
      tighten(random, c, [](RunOptions& options) -> std::int64_t& { return options.max_memory_bytes; });
    check(c);
  }
}

TEST_CASE(
    "what a product reads is what its plan says, and with memory for all of it everything is read once") {
  if (lacks_blas()) return;
  Case c{.shape = {300, 200, 500}, .op = {}, .options = {}};
  const GemmPlan ample_plan = check(c);
  CHECK(ample_plan.bytes_read == (300 * 500 + 500 * 200) * 8);
  CHECK(ample_plan.min_bytes == (300 * 500 + 500 * 200 + 300 * 200) * 8);
  c.options.max_memory_bytes = 10 << 20;
  c.options.threads = 1;
  c.shape = {500, 400, 600};
  const GemmPlan tight_plan = check(c);
  CHECK(tight_plan.bytes_read > (500 * 600 + 600 * 400) * 8);
  CHECK(static_cast<double>(tight_plan.bytes_read + tight_plan.bytes_written) >= tight_plan.min_bytes);
}

TEST_CASE("steps cover every term of every element once and reuse only free memory") {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200; ++i) {
    GemmPlan plan;
    const auto random_up_to = [&](std::int64_t limit) {
      return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
    };
    plan.shape = {random_up_to(3000), random_up_to(900), random_up_to(2000)};
    plan.rows = random_up_to(plan.shape.m), plan.cols = random_up_to(plan.shape.n),
    plan.depth = random_up_to(plan.shape.k);
    plan.keeps_b = i % 2 == 0, plan.whole_a = i % 4 == 0, plan.slots = static_cast<int>(random_up_to(3)),
    plan.tiles = static_cast<int>(random_up_to(2));
    if (i % 3 == 0) plan.devices = {0};
    const std::vector<GemmStep> steps = gemm_steps(plan);
    std::int64_t terms = 0, k = 0;
    Rect last{};
    for (std::int64_t index = 0; index < std::ssize(steps); ++index) {
      const GemmStep& step = steps[static_cast<std::size_t>(index)];
      if (step.first) {
        k = 0;
        REQUIRE((index == 0 || steps[static_cast<std::size_t>(index - 1)].last));
        const bool below = step.result.col == last.col && step.result.row == last.row_end();
        const bool right =
            step.result.row == 0 && step.result.col == last.col_end() && last.row_end() == plan.shape.m;
        REQUIRE((index == 0 || below || right));
      }
      REQUIRE(step.k == k);
      REQUIRE(step.depth <= (step.loads_b ? plan.depth : plan.a_depth()));
      REQUIRE(step.result.rows <= plan.rows);
      k += step.depth;
      REQUIRE(step.last == (k == plan.shape.k));
      terms += step.result.area() * step.depth;
      last = step.result;
      REQUIRE(step.a_free_after == index - plan.slots);
      REQUIRE(step.tile_free_after == step.tile - plan.tiles);
    }
    CHECK(terms == plan.shape.m * plan.shape.n * plan.shape.k);
  }
}

TEST_CASE("the plan of a product takes few steps, whatever the shape, and the steps are part of its memory") {
  for (const GemmShape shape : {GemmShape{1'000'000, 64, 384}, GemmShape{1'000'000, 64, 1000},
                                GemmShape{1'000'000, 1, 10000}, GemmShape{64, 1'000'000, 384},
                                GemmShape{1, 1, 100'000'000}, GemmShape{1'500'000'000, 1'500'000'000, 1}}) {
    for (const std::int64_t ceiling : {std::int64_t{128} << 20, std::int64_t{1} << 30}) {
      alignas(8) std::byte never_touched{};
      const auto view = [&](std::int64_t rows, std::int64_t cols) {
        return dense_view(&never_touched, ImageSpec{{rows, cols}, 1, PixelType::f32});
      };
      const auto a = make_memory_reader(view(shape.m, shape.k)),
                 b = make_memory_reader(view(shape.k, shape.n));
      const auto out = make_memory_writer(view(shape.m, shape.n));
      if (shape.m > 1'000'000 && ceiling < std::int64_t{1} << 30) continue;
      const PlanOptions options{.max_memory_bytes = ceiling, .threads = 2};
      if (shape.m > 1'000'000) {  // the list of tiles alone does not fit
        CHECK_THROWS_AS(plan_gemm({}, *a, *b, nullptr, *out, options), OutOfMemory);
        continue;
      }
      const GemmPlan plan = plan_gemm({}, *a, *b, nullptr, *out, options);
      INFO(describe(plan));
      CHECK(gemm_steps(plan).size() < 2000);
      CHECK(plan.memory.total() <= ceiling);
    }
  }
}

TEST_CASE("invalid products are refused with an error before anything is read") {
  using Catch::Contains;
  if (lacks_blas()) return;
  Case c{.shape = {8, 8, 8}, .op = {}, .options = {}};
  c.options.max_memory_bytes = 100;
  CHECK_THROWS_WITH(check(c), Contains("no plan fits into 100 B: the smallest ceiling for this product is") &&
                                  Contains("max_memory_bytes"));
  const Matrix a({3, 4}, PixelType::f64, 1), b({4, 5}, PixelType::f64, 2), out({3, 5}, PixelType::f64, 3);
  const auto reader_a = make_memory_reader(a.view()), reader_b = make_memory_reader(b.view());
  const auto writer = make_memory_writer(out.view());
  CHECK_THROWS_WITH(run_gemm({}, *reader_a, *reader_b, nullptr, *writer, {{.threads = 5000}}),
                    Contains("the number of threads cannot be 5000"));
  CHECK_THROWS_WITH(run_gemm({}, *reader_a, *reader_b, nullptr, *writer, {{.devices = {-1}}}),
                    Contains("the index of a GPU cannot be -1"));
  CHECK_THROWS_WITH(run_gemm({.beta = 2}, *reader_a, *reader_b, nullptr, *writer),
                    Contains("beta multiplies a matrix that was not given"));
  CHECK_THROWS_WITH(run_gemm({}, *reader_b, *reader_a, nullptr, *writer), Contains("5 and 3 terms"));
}

TEST_CASE("gemm on a caller's memory adds to the existing values") {
  if (lacks_blas()) return;
  const Matrix a({30, 40}, PixelType::f32, 1), b({50, 40}, PixelType::f32, 2),
      expected({30, 50}, PixelType::f32, 3), out({30, 50}, PixelType::f32, 3);
  const GemmOp op{.trans_b = true, .beta = 1};
  gemm_reference(op, a.view(), b.view(), expected.view());
  gemm(op, a.view(), b.view(), out.view(), {});
  CHECK(out == expected);
}
#endif

TEST_CASE("gemm on a caller's memory uses the device that is predicted to be faster") {
  for (const bool on_gpu : {false, true}) {
    const bool uses_gpu = on_gpu && !list_devices().empty();
    if (!uses_gpu && gemm_host_library().empty()) continue;
    const Matrix a({30, 40}, PixelType::f32, 1), b({50, 40}, PixelType::f32, 2),
        expected({30, 50}, PixelType::f32, 3), out({30, 50}, PixelType::f32, 3);
    const GemmOp op{.trans_b = true, .beta = 1};
    gemm_reference(op, a.view(), b.view(), expected.view());
    bool planned = false;  // progress is called for tiles, but not by gemm_host
    RunOptions options{{.choose_device = true}};
    options.progress = [&](const Progress&) { planned = true; };
    options.machine.device.start_seconds = 0;
    (on_gpu ? options.machine.products.host_fma_f32_rate : options.machine.products.device_fma_f32_rate) = 1;
    gemm(op, a.view(), b.view(), out.view(), options);
    CHECK(out == expected);
    CHECK(planned == uses_gpu);
  }
}

namespace {

void check_on_gpu(int count, std::int64_t max_side) {
  std::mt19937_64 random(13);
  for (int i = 0; i < count; ++i) {
    Case c = random_case(random, max_side);
    c.options.devices = {0};
    c.options.threads = 1 + i % 8;  // with four or more threads they gather short rows
    CAPTURE(i);
    if (i % 3 == 1)
      tighten(random, c,
              [](RunOptions& options) -> std::int64_t& { return options.max_device_memory_bytes; });
    if (i % 3 == 2)
      tighten(random, c, [](RunOptions& options) -> std::int64_t& { return options.max_memory_bytes; });
    check(c);
  }
}

}  // namespace

TEST_CASE("a product on a GPU is that of three loops, whatever the ceilings", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  kSimulated ? check_on_gpu(80, 90) : check_on_gpu(200, 300);
}

TEST_CASE(
    "threads gather panels of short rows on their way to a GPU, if they are enough, and whole rows go as "
    "they lie",
    "[gpu]") {
  SEPCONV_NEEDS_GPU();
  Case c{.shape = {90, 80, 700},
         .op = {},
         .locked_a = true,
         .locked_b = true,
         .locked_out = true,
         .options = {}};
  c.options.devices = {0};
  c.options.max_device_memory_bytes = 100 << 10;  // panels of A have part of the depth, those of B whole rows
  c.options.band_cols = 80;
  c.options.threads = 8;
  const GemmPlan staged = check(c);
  CHECK(staged.depth < 700);
  CHECK((staged.stages_a && !staged.stages_b));
  CHECK(staged.memory.slots == staged.slots * staged.rows * staged.a_depth() * 8);
  c.op.trans_a = true, c.options.band_rows = 90;
  CHECK_FALSE(check(c).stages_a);
  c.op.trans_a = false, c.options.threads = 1;
  CHECK_FALSE(check(c).stages_a);
  c.options.threads = 8,
  c.options.max_memory_bytes = staged.memory.total() / 2;  // too little memory for staging
  CHECK_FALSE(check(c).stages_a);
  c.options.max_memory_bytes = 0;
  c.shape = {80, 90, 700}, c.op = {.trans_a = true, .trans_b = true}, c.options.band_rows = 80,
  c.options.band_cols = 90;  // the mirror image
  const GemmPlan mirrored = check(c);
  CHECK(mirrored.depth < 700);
  CHECK((mirrored.stages_b && !mirrored.stages_a));
  c.options.max_device_memory_bytes = 10 << 20,
  c.options.band_rows = 20;  // columns of op(B) stay resident, with gaps between the rows of their panels
  const GemmPlan resident_plan = check(c);
  CHECK((resident_plan.keeps_b && !resident_plan.stages_b));
}

TEST_CASE("a few products on a GPU, for compute-sanitizer", "[gpu][sanitize][cublas]") {
  SEPCONV_NEEDS_GPU();
  check_on_gpu(6, 60);
}

TEST_CASE("gemm on a caller's own memory through a GPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  for (const bool locked : {false, true}) {
    const Matrix a({70, 40}, PixelType::f32, 1, locked), b({40, 90}, PixelType::f32, 2, locked),
        expected({70, 90}, PixelType::f32, 3), out({70, 90}, PixelType::f32, 3, locked);
    gemm_reference({.beta = -1}, a.view(), b.view(), expected.view());
    gemm({.beta = -1}, a.view(), b.view(), out.view(), {{.devices = {0}}},
         locked ? HostMemory::page_locked : HostMemory::pageable);
    CHECK(out == expected);
  }
}
