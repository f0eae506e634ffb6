// The stage gemm: results, equal bits for any plan, its transposed stages, its plans and its errors.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

#include "../support/fault_injection.hpp"
#include "../support/gpu.hpp"
#include "../support/matrix_file.hpp"
#include "core/error.hpp"
#include "pipeline/run/device_filter.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;
using Catch::Contains;

namespace {

using Stages = std::vector<std::string>;

/// Runs one chain on one image in random bands and tiles and checks for the whole image's bits.
void check_cuts(const ImageSpec& spec, const Stages& stages, std::mt19937_64& random, int cuts,
                const std::vector<int>& devices = {}) {
  const Image source = Image::of_pattern(spec, Pattern::noise, random() % 100);
  const Chain chain = Chain::parse(stages);
  const Image expected(chain.result_spec(spec));
  run_whole_image(*source.reader(), *expected.writer(), chain);
  for (int cut = 0; cut < cuts; ++cut) {
    const auto random_between = [&](std::int64_t min_value, std::int64_t max_value) {
      return min_value +
             static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max_value - min_value + 1));
    };
    RunOptions options;
    options.slots = static_cast<int>(random_between(1, 4));
    options.threads = static_cast<int>(random_between(1, 3));
    options.band_rows = random_between(1, expected.spec().extent.rows);
    options.band_cols =
        cut % 3 == 0 ? expected.spec().extent.cols : random_between(1, expected.spec().extent.cols);
    if (cut % 2 == 0) options.tile = {random_between(1, 20), random_between(1, 20)};
    options.devices = devices;
    const Image actual(expected.spec());
    const RunReport report = run(*source.reader(), *actual.writer(), chain, options);
    INFO(chain.text() << " on " << spec.extent.rows << " x " << spec.extent.cols << " of " << spec.channels
                      << " " << name_of(spec.type) << ", bands of " << options.band_rows << " x "
                      << options.band_cols << ", " << options.slots << " slots");
    REQUIRE(report.plan.band == Extent{options.band_rows, options.band_cols});
    REQUIRE(report.plan.devices == devices);
    REQUIRE(actual == expected);
  }
}

/// Chains around a product, some with transposes, on images of every type and of one to three channels.
void check_chains(const std::vector<int>& devices, int cuts) {
  const MatrixFolder matrices;
  std::mt19937_64 random(17);
  for (const PixelType type : kPixelTypes) {
    for (const std::int64_t channels : {1, 3}) {
      const ImageSpec spec{{37, 29}, channels, type};
      const std::string right = "gemm:file=" + matrices.noise({29 * channels, 23}, PixelType::f32, 1);
      const std::string left = "gemm:file=" + matrices.noise({31, 37}, PixelType::f64, 2) + ",side=left";
      const std::string transposed_right =
          "gemm:file=" + matrices.noise({37 * channels, 19}, PixelType::f64, 3);
      const std::string transposed_left =
          "gemm:file=" + matrices.noise({21, 29}, PixelType::f32, 4) + ",side=left";
      const std::string scale = "scale:factor=0.01,offset=1";
      for (const Stages& stages :
           {Stages{right}, Stages{left}, Stages{"gaussian:sigma=1", right, "box:radius=2"},
            Stages{"box:radius=3", left, scale, "gaussian:sigma=2"},
            Stages{left, scale, "cast:type=i16", right}, Stages{"transpose", transposed_right, scale},
            Stages{"transpose", transposed_left, "abs", "transpose"},
            Stages{"sobel:axis=x", "transpose", "sobel:axis=x", transposed_right, "transpose"},
            Stages{right, "transpose", scale}})
        check_cuts(spec, stages, random, cuts, devices);
    }
  }
}

#ifndef SEPCONV_SIMULATED_GPU

/// A sink of any size, without pixels.
class NullWriter final : public Writer {
 public:
  explicit NullWriter(const ImageSpec& spec) : spec_(spec) {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  void write(const Rect&, const ConstPixelView&, Executor&) override {}
  void finish() override {}
  std::int64_t buffer_bytes(int) const override { return 0; }

 private:
  ImageSpec spec_;
  SinkLayout layout_;
};

Plan plan_for(const ImageSpec& spec, const Stages& stages, const PlanOptions& options) {
  const Chain chain = Chain::parse(stages);
  const auto source = make_pattern_reader(spec, Pattern::noise, 1);
  return sepconv::plan(*source, NullWriter(chain.result_spec(spec)), chain, options);
}

std::string reordered_text(const Stages& stages) { return Chain::parse(stages).transposes_last().text(); }

#endif

}  // namespace

#ifndef SEPCONV_SIMULATED_GPU

TEST_CASE("gemm multiplies rows of columns and channels by the matrix, or the matrix by each channel") {
  const MatrixFolder matrices;
  const ImageSpec spec{{5, 4}, 3, PixelType::u8};
  const Image source = Image::of_pattern(spec, Pattern::noise, 1);
  const auto pixel = [&](std::int64_t row, std::int64_t element) {
    return static_cast<double>(source.view().row<std::uint8_t>(row)[element]);
  };
  const auto integer_matrix = [](Extent extent) {  // small integers, so that sums are exact in f32
    Image matrix({extent, 1, PixelType::f32});
    for (std::int64_t row = 0; row < extent.rows; ++row) {
      for (std::int64_t col = 0; col < extent.cols; ++col)
        matrix.view().row<float>(row)[col] = static_cast<float>((3 * row + 5 * col) % 7 - 3);
    }
    return matrix;
  };
  const auto run_f64 = [&](const std::string& stage) {
    const Chain chain = Chain::parse(Stages{"cast:type=f32", stage});
    const Image result(chain.result_spec(spec));
    run(*source.reader(), *result.writer(), chain, {});
    const float* const values = result.view().row<float>(0);
    return std::pair{result.spec(), std::vector<float>(values, values + result.spec().bytes() / 4)};
  };

  const Image b = integer_matrix({12, 6});
  const auto [right_spec, right] = run_f64("gemm:file=" + matrices.save("b.npy", b));
  REQUIRE(right_spec == ImageSpec{{5, 6}, 1, PixelType::f32});
  const Image a = integer_matrix({7, 5});
  const auto [left_spec, left] = run_f64("gemm:side=left,file=" + matrices.save("a.npy", a));
  REQUIRE(left_spec == ImageSpec{{7, 4}, 3, PixelType::f32});
  for (std::int64_t row = 0; row < 5; ++row) {
    for (std::int64_t col = 0; col < 6; ++col) {
      double sum = 0;
      for (std::int64_t k = 0; k < 12; ++k) sum += pixel(row, k) * b.view().row<float>(k)[col];
      REQUIRE(right[static_cast<std::size_t>(row * 6 + col)] == sum);
    }
  }
  for (std::int64_t row = 0; row < 7; ++row) {
    for (std::int64_t element = 0; element < 12; ++element) {
      double sum = 0;
      for (std::int64_t k = 0; k < 5; ++k) sum += a.view().row<float>(row)[k] * pixel(k, element);
      REQUIRE(left[static_cast<std::size_t>(row * 12 + element)] == sum);
    }
  }
}

TEST_CASE("gemm streams with the bits of the whole image, in any chain and cut") { check_chains({}, 6); }

TEST_CASE("larger products stream with the bits of the whole image") {
  const MatrixFolder matrices;
  std::mt19937_64 random(18);
  const std::string right = "gemm:file=" + matrices.noise({600, 300}, PixelType::f32, 1);
  const std::string left = "gemm:file=" + matrices.noise({110, 500}, PixelType::f32, 2) + ",side=left";
  check_cuts({{150, 600}, 1, PixelType::f32}, {right}, random, 6);
  check_cuts({{500, 100}, 3, PixelType::f64}, {left}, random, 6);
}

TEST_CASE("transposes move past a product, which changes its side, and cancel in pairs") {
  const MatrixFolder matrices;
  const std::string product = "gemm:file=" + matrices.noise({12, 5}, PixelType::f32, 1);
  const std::string right = product + ",side=right";
  const std::string left = product + ",side=left";
  CHECK(reordered_text({"transpose", right, "transpose"}) == right + " (transposed)");
  CHECK(reordered_text({"transpose", left}) == left + " (transposed) | transpose");
  CHECK(reordered_text({"transpose", "transpose", left}) == left);
  CHECK(parse_stage(left)->transposed()->transposed()->text() == left);
  CHECK(parse_stage(right)->output_spec({{70, 4}, 3, PixelType::u8}) == ImageSpec{{70, 5}, 1, PixelType::u8});
  CHECK(parse_stage(right)->transposed()->output_spec({{4, 70}, 3, PixelType::u8}) ==
        ImageSpec{{5, 70}, 1, PixelType::u8});
  CHECK(parse_stage(left)->transposed()->output_spec({{9, 5}, 2}) == ImageSpec{{9, 12}, 2});
}

TEST_CASE("plans of products keep their ceiling and repeat no reads or work") {
  const MatrixFolder matrices;
  const ImageSpec spec{{65536, 65536}, 1, PixelType::f32};
  const std::string right = "gemm:file=" + matrices.noise({65536, 32}, PixelType::f32, 1);
  const std::string left = "gemm:file=" + matrices.noise({32, 65536}, PixelType::f32, 1) + ",side=left";
  const std::int64_t matrix_bytes = std::int64_t{65536} * 32 * 4;
  const std::int64_t ceiling = 400 << 20;
  for (const Stages& stages :
       {Stages{right}, Stages{left}, Stages{"gaussian:sigma=1", right}, Stages{"gaussian:sigma=1", left},
        Stages{right, "box:radius=3"}, Stages{"transpose", right}, Stages{left, "transpose"}}) {
    const Plan plan = plan_for(spec, stages, {.max_memory_bytes = ceiling, .threads = 4});
    INFO(plan.chain.text() << ": bands of " << plan.band.rows << " x " << plan.band.cols << ", tiles of "
                           << plan.tile.rows << " x " << plan.tile.cols << ", " << plan.bytes_read
                           << " bytes read, " << plan.recomputed / plan.operations << " recomputed");
    CHECK(plan.memory.total() <= ceiling);
    CHECK(plan.memory.resident == matrix_bytes);
    CHECK(plan.threads == 4);
    CHECK(plan.bytes_read < spec.bytes() * 11 / 10);
    CHECK(plan.recomputed < 0.5 * plan.operations);
  }
}

TEST_CASE("a product on the left is read in columns, and in several bands") {
  const MatrixFolder matrices;
  const ImageSpec spec{{20000, 20000}, 1, PixelType::f32};
  const std::string left = "gemm:file=" + matrices.noise({64, 20000}, PixelType::f32, 1) + ",side=left";
  const Plan plan = plan_for(spec, {left}, {.max_memory_bytes = std::int64_t{8} << 30, .threads = 4});
  CHECK(plan.band.cols < 20000);
  CHECK(plan.band_count() >= 4);
  CHECK(plan.band.cols >= 256);
  CHECK(plan.bytes_read == spec.bytes());
  CHECK(std::ranges::any_of(
      plan.notes, [](const std::string& note) { return note.find("whole columns") != std::string::npos; }));
}

TEST_CASE("a ceiling below the matrix's size is refused with the minimum ceiling") {
  const MatrixFolder matrices;
  const std::string right = "gemm:file=" + matrices.noise({2000, 1000}, PixelType::f64, 1);
  const ImageSpec spec{{50, 2000}, 1, PixelType::u8};
  CHECK_THROWS_WITH(plan_for(spec, {right}, {.max_memory_bytes = 8 << 20}),
                    Contains("the smallest ceiling") && Contains("max_memory_bytes"));
  const Plan plan = plan_for(spec, {right}, {.max_memory_bytes = 24 << 20});
  CHECK(plan.memory.total() <= 24 << 20);
  CHECK(plan.memory.resident == 16000000);
}

TEST_CASE("gemm refuses what does not fit with a sentence that names both shapes") {
  const MatrixFolder matrices;
  const std::string file = matrices.noise({12, 5}, PixelType::f32, 1);
  CHECK_THROWS_WITH(parse_stage("gemm:file=" + file)->output_spec({{7, 10}, 3}),
                    Contains("12 rows x 5 columns") && Contains("7 rows x 10 columns of 3 channels") &&
                        Contains("a matrix of 30 rows"));
  CHECK_THROWS_WITH(parse_stage("gemm:side=left,file=" + file)->output_spec({{7, 10}, 3}),
                    Contains("12 rows x 5 columns") && Contains("7 rows x 10 columns of 3 channels") &&
                        Contains("a matrix of 7 columns"));
  CHECK_THROWS_WITH(parse_stage("gemm"), Contains("needs 'file'"));
  CHECK_THROWS_WITH(parse_stage("gemm:file=" + file + ",side=top"), Contains("it is one of right, left"));
  CHECK_THROWS_AS(parse_stage("gemm:file=/nonexistent/B.npy"), IoError);
  CHECK_THROWS_WITH(parse_stage("gemm:file=/nonexistent/B.npy"), Contains("/nonexistent/B.npy"));
  const std::string bytes = matrices.noise({3, 3}, PixelType::u8, 1);
  CHECK_THROWS_WITH(parse_stage("gemm:file=" + bytes), Contains(bytes) && Contains("f32 or f64 is needed"));
  const std::string cube =
      matrices.save("cube.npy", Image::of_pattern({{3, 3}, 2, PixelType::f32}, Pattern::noise, 1));
  CHECK_THROWS_WITH(parse_stage("gemm:file=" + cube), Contains("a matrix has two"));
}

TEST_CASE("the file is read once: later changes do not affect the stage") {
  const MatrixFolder matrices;
  const std::string file =
      matrices.save("B.npy", Image::of_pattern({{6, 4}, 1, PixelType::f32}, Pattern::noise, 1));
  const Chain chain = Chain::parse(Stages{"gemm:file=" + file});
  const Image source = Image::of_pattern({{9, 6}, 1, PixelType::f32}, Pattern::noise, 2);
  const Image before_removal(chain.result_spec(source.spec())), after_removal(before_removal.spec());
  run(*source.reader(), *before_removal.writer(), chain, {});
  std::filesystem::remove(file);
  run(*source.reader(), *after_removal.writer(), chain, {});
  CHECK(before_removal == after_removal);
}

#endif

TEST_CASE("gemm through a GPU has the bits of the whole image, in any chain and cut", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  check_chains({0}, 3);
}

TEST_CASE("gemm through a GPU, a few cuts for compute-sanitizer", "[gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  const MatrixFolder matrices;
  std::mt19937_64 random(19);
  const std::string right = "gemm:file=" + matrices.noise({90, 70}, PixelType::f32, 1);
  const std::string left = "gemm:side=left,file=" + matrices.noise({33, 40}, PixelType::f64, 2);
  check_cuts({{40, 30}, 3, PixelType::u8}, {"gaussian:sigma=1", left, right, "abs", "transpose"}, random, 2,
             {0});
}

TEST_CASE("a run's device memory includes the matrix and is as planned", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const MatrixFolder matrices;
  const Chain chain = Chain::parse(Stages{"gemm:file=" + matrices.noise({300, 200}, PixelType::f64, 1)});
  const Image source = Image::of_pattern({{120, 300}, 1, PixelType::f32}, Pattern::noise, 3);
  const Image expected(chain.result_spec(source.spec())), actual(expected.spec());
  run_whole_image(*source.reader(), *expected.writer(), chain);
  FailingMemory memory(-1, device_resource());
  RunOptions options;
  options.devices = {0};
  options.band_rows = 16;
  options.device_memory = &memory;
  const RunReport report = run(*source.reader(), *actual.writer(), chain, options);
  CHECK(actual == expected);
  CHECK(report.plan.device_memory.resident == 300 * 200 * 8);
  CHECK(memory.peak_bytes() == report.plan.device_memory.total());
  CHECK(memory.allocated_bytes() == 0);
}

TEST_CASE("a device filter copies its matrix to the device", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const MatrixFolder matrices;
  const Chain chain =
      Chain::parse(Stages{"transpose", "gemm:file=" + matrices.noise({60, 45}, PixelType::f32, 1), "abs"});
  const ImageSpec spec{{60, 50}, 1, PixelType::u16};
  const DeviceFilter filter(chain, spec);
  CHECK(filter.scratch_bytes() >= 60 * 45 * 4);
  const Image source = Image::of_pattern(spec, Pattern::noise, 4);
  const Image expected(filter.result()), actual(filter.result());
  run_whole_image(*source.reader(), *expected.writer(), chain);
  const Stream stream;
  const DeviceImage in(source.view(), stream.get());
  const DeviceImage out(actual.view(), stream.get());
  filter.enqueue(in.view(), out.view(), stream.get());
  out.download(actual.view(), stream);
  CHECK(actual == expected);
}
