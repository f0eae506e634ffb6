// Further stages for permutations besides transpose, and plans of transposed results: bytes read and planning
// time.
#include "pipeline/stages/permutation_steps.hpp"

#include <catch2/catch.hpp>
#include <ctime>
#include <random>

#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "io/memory_image.hpp"
#include "kernels/device/runtime.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/stages/transpose.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

/// The result's rectangle of one pixel for input pixel (row, col).
using PositionMap = std::function<Rect(std::int64_t row, std::int64_t col)>;

/// A source with blocks of any shape, which counts decoded pixels. Without `pixels` it cannot be read.
class BlockReader final : public Reader {
 public:
  BlockReader(const ImageSpec& spec, Extent block, std::unique_ptr<Reader> pixels = nullptr)
      : spec_(spec), pixels_(std::move(pixels)) {
    layout_.block = block;
  }
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SourceLayout& layout() const noexcept override { return layout_; }
  const Metadata& metadata() const noexcept override { return metadata_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void read(const Rect& rect, const PixelView& out, Executor& executor) override {
    const auto covered_length = [](std::int64_t begin, std::int64_t end, std::int64_t unit,
                                   std::int64_t side) {
      return std::min(round_up(end, unit), side) - begin / unit * unit;
    };
    decoded += covered_length(rect.row, rect.row_end(), layout_.block.rows, spec_.extent.rows) *
               covered_length(rect.col, rect.col_end(), layout_.block.cols, spec_.extent.cols);
    pixels_->read(rect, out, executor);
  }

  std::atomic<std::int64_t> decoded = 0;

 private:
  ImageSpec spec_;
  std::unique_ptr<Reader> pixels_;
  SourceLayout layout_;
  Metadata metadata_;
};

/// A sink of any size that discards its pixels.
class NoWriter final : public Writer {
 public:
  explicit NoWriter(const ImageSpec& spec) : spec_(spec) {}
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  std::int64_t buffer_bytes(int) const override { return 0; }
  void write(const Rect&, const ConstPixelView&, Executor&) override {}
  void finish() override {}

 private:
  ImageSpec spec_;
  SinkLayout layout_;
};

/// Runs the stage on a random image in random bands and tiles, every other time on a GPU if one exists.
/// Checks that every pixel is at `position`.
void check_positions(const StagePtr& stage, const ImageSpec& spec, const PositionMap& position,
                     std::mt19937_64& random) {
  const auto random_up_to = [&](std::int64_t max_value) {
    return 1 + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(max_value));
  };
  const Image source = Image::of_pattern(spec, Pattern::noise, random() % 100);
  const Chain chain = Chain().then(stage);
  const Image result(chain.result_spec(spec)), whole(chain.result_spec(spec));
  RunOptions options;
  options.band_rows = random() % 2 == 0 ? random_up_to(result.spec().extent.rows) : 0;
  options.band_cols = random() % 2 == 0 ? random_up_to(result.spec().extent.cols) : 0;
  options.tile = {random_up_to(9), random_up_to(9)};
  if (!list_devices().empty() && random() % 2 == 0) options.devices = {0};
  run(*source.reader(), *result.writer(), chain, options);
  run_whole_image(*source.reader(), *whole.writer(), chain);
  INFO(stage->text() << " of " << spec.extent.rows << " x " << spec.extent.cols << ", bands of "
                     << options.band_rows << " x " << options.band_cols << ", tiles of " << options.tile.rows
                     << " x " << options.tile.cols);
  REQUIRE(result == whole);
  const auto bytes = static_cast<std::size_t>(spec.pixel_bytes());
  for (std::int64_t row = 0; row < spec.extent.rows; ++row) {
    for (std::int64_t col = 0; col < spec.extent.cols; ++col) {
      REQUIRE(std::memcmp(source.view().crop({row, col, 1, 1}).data,
                          result.view().crop(position(row, col)).data, bytes) == 0);
    }
  }
}

void check_interleaved() {
  std::mt19937_64 random(5);
  for (int i = 0; i < 80; ++i) {
    const auto matrices = 1 + static_cast<std::int64_t>(random() % 6);
    const auto cols = 1 + static_cast<std::int64_t>(random() % 9);
    const ImageSpec spec{{1 + static_cast<std::int64_t>(random() % 30), matrices * cols},
                         1 + i % 3,
                         kPixelTypes[random() % std::size(kPixelTypes)]};
    check_positions(
        make_interleaved_transpose(matrices), spec,
        [&](std::int64_t row, std::int64_t col) {
          return Rect{col % cols * matrices + col / cols, row, 1, 1};
        },
        random);
  }
}

void check_run_transposes() {
  std::mt19937_64 random(6);
  for (int i = 0; i < 80; ++i) {
    const auto run_cols = 1 + static_cast<std::int64_t>(random() % 12);
    const auto runs = 1 + static_cast<std::int64_t>(random() % 6);
    const ImageSpec spec{{1 + static_cast<std::int64_t>(random() % 9), runs * run_cols},
                         1 + i % 3,
                         kPixelTypes[random() % std::size(kPixelTypes)]};
    check_positions(
        make_run_transpose(run_cols), spec,
        [&](std::int64_t row, std::int64_t col) {
          return Rect{col / run_cols, row * run_cols + col % run_cols, 1, 1};
        },
        random);
  }
}

}  // namespace

TEST_CASE("an interleaved transposition, cut in any way") { check_interleaved(); }
TEST_CASE("a transposition of runs, cut in any way") { check_run_transposes(); }

TEST_CASE("interleaved transpositions and those of runs on a GPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  check_interleaved();
  check_run_transposes();
}

TEST_CASE("images that matrices or runs do not fill are refused") {
  const ImageSpec spec{{10, 9}};
  CHECK_THROWS_AS(make_interleaved_transpose(2)->output_spec(spec), InvalidArgument);
  CHECK_THROWS_AS(make_run_transpose(4)->output_spec(spec), InvalidArgument);
  CHECK_THROWS_AS(make_interleaved_transpose(0), InvalidArgument);
  CHECK_THROWS_AS(make_run_transpose(0), InvalidArgument);
}

TEST_CASE("a transposed plan's bytes_read are the decoded bytes, whole blocks for each band") {
  struct Case {
    StagePtr stage;
    Extent source;
  };
  for (const Case& c :
       {Case{make_transpose(), {300, 400}}, Case{make_transpose(20, Stacking::rows), {400, 300}},
        Case{make_transpose(20, Stacking::cols), {300, 400}},
        Case{make_interleaved_transpose(8), {400, 160}}}) {
    for (const Extent block : {Extent{1, 1}, Extent{8, 16}, Extent{5, c.source.cols}}) {
      for (const std::int64_t ceiling : {20000, 50000, 300000}) {
        const Image source = Image::of_pattern({c.source, 1, PixelType::u8}, Pattern::noise, 1);
        BlockReader reader(source.spec(), block, source.reader());
        const Chain chain = Chain().then(c.stage);
        const Image result(chain.result_spec(source.spec())), expected(result.spec());
        RunOptions options;
        options.max_memory_bytes = ceiling;
        options.threads = 2;
        const RunReport report = run(reader, *result.writer(), chain, options);
        run_whole_image(*source.reader(), *expected.writer(), chain);
        INFO(c.stage->text() << ", blocks of " << block.rows << " x " << block.cols << ", bands of "
                             << report.plan.band.rows << " x " << report.plan.band.cols);
        CHECK(result == expected);
        // With more than 64 bands it is an estimate.
        CHECK(static_cast<double>(report.plan.bytes_read) ==
              Approx(static_cast<double>(reader.decoded)).epsilon(0.02));
      }
    }
  }
}

TEST_CASE("a plan takes no time to make, however long the sides of the image") {
  const std::int64_t billion = 1'000'000'000;
  const Chain transpose_chain = Chain().then(make_transpose());
  for (const auto& [chain, extent] :
       {std::pair{transpose_chain, Extent{3, billion}}, std::pair{transpose_chain, Extent{billion, 3}},
        std::pair{Chain().then(make_transpose(billion, Stacking::cols)), Extent{2, 2 * billion}},
        std::pair{Chain().then(make_transpose(billion, Stacking::rows)), Extent{2 * billion, 2}},
        std::pair{Chain().then(make_interleaved_transpose(2)), Extent{billion, 4}},
        std::pair{Chain::parse(std::vector<std::string>{"gaussian:sigma=2"}), Extent{3, billion}},
        std::pair{Chain::parse(std::vector<std::string>{"gaussian:sigma=2", "transpose"}),
                  Extent{3, billion}}}) {
    for (const Extent block : {Extent{1, 1}, Extent{16, 16}}) {
      const BlockReader reader({extent, 1, PixelType::u8}, block);
      const NoWriter writer(chain.result_spec(reader.spec()));
      const std::clock_t begin = std::clock();
      const Plan plan = sepconv::plan(reader, writer, chain, {.max_memory_bytes = 512 << 20, .threads = 16});
      const double cpu_seconds =
          static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;  // processor time
      INFO(chain.text() << " of " << extent.rows << " x " << extent.cols << ": bands of " << plan.band.rows
                        << " x " << plan.band.cols);
      CHECK(plan.memory.total() <= 512 << 20);
      CHECK(plan.band.area() >= 4096);
      CHECK(cpu_seconds < 5);  // takes a few milliseconds; took minutes with cost per band
    }
  }
}

TEST_CASE("between page-locked memory and a GPU short rows are stored by a kernel, long ones copied",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const auto plan_of = [](PixelType type, HostMemory sink_memory) {
    const ImageSpec spec{{65536, 65536}, 1, type};
    alignas(8) std::byte never_touched{};
    const PixelView pixels = dense_view(&never_touched, spec);
    const auto reader = make_memory_reader(ConstPixelView(pixels), HostMemory::page_locked);
    const auto writer = make_memory_writer(pixels, sink_memory);
    return sepconv::plan(*reader, *writer, Chain().then(make_transpose()),
                         {.max_memory_bytes = std::int64_t{64} << 30,
                          .devices = {0},
                          .max_device_memory_bytes = std::int64_t{64} << 30});
  };
  // For bytes, pieces with long rows in source and result would need blocks of a quarter of the image.
  const Plan bytes = plan_of(PixelType::u8, HostMemory::page_locked);
  CHECK(bytes.kernel_stores_rows);
  CHECK(bytes.band.rows == 65536);
  CHECK(bytes.band_count() >= 16);
  CHECK_THAT(bytes.notes.front(), Catch::Contains("stored by a kernel"));
  const Plan floats = plan_of(PixelType::f32, HostMemory::page_locked);
  CHECK_FALSE(floats.kernel_stores_rows);
  CHECK(floats.band.cols * 4 >= 32 << 10);
  CHECK_FALSE(plan_of(PixelType::u8, HostMemory::pageable).kernel_stores_rows);
}
