// Stages that change the scale: their extents and footprints, and streaming within a tight ceiling.
#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "../support/image.hpp"
#include "../support/null_io.hpp"
#include "core/error.hpp"
#include "io/rows.hpp"
#include "pipeline/chain/graph_tile.hpp"
#include "pipeline/job/output.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using Catch::Contains;
using test::Image;

namespace {

Extent result_of(std::string_view stage, Extent image) {
  return parse_stage(stage)->output_spec({image, 3, PixelType::u8}).extent;
}

}  // namespace

TEST_CASE("the result's extent of stages that change the scale") {
  CHECK(result_of("reduce:factor=2", {7, 10}) == Extent{4, 5});
  CHECK(result_of("reduce:factor=3,factor_y=2", {7, 10}) == Extent{4, 4});
  CHECK(result_of("reduce:factor=100", {7, 10}) == Extent{1, 1});
  CHECK(result_of("resize:size=640x480", {7, 10}) == Extent{480, 640});
  CHECK(result_of("resize:scale=0.5", {7, 10}) == Extent{4, 5});  // 3.5 is rounded to even
  CHECK(result_of("resize:scale=0.5", {5, 10}) == Extent{2, 5});  // 2.5 is rounded to even
  CHECK(result_of("resize:scale=0.001", {7, 10}) == Extent{1, 1});
  CHECK(result_of("resize:scale=2.6", {7, 10}) == Extent{18, 26});
  CHECK_THROWS_WITH(result_of("resize:scale=1e9", {7, 10}),
                    Contains("makes a side of 7e+09 pixels of 7; the longest is 2147483647, so take"));
}

TEST_CASE(
    "what a stage of another scale needs of its input lies in it, turned too, and is no less for more") {
  for (const std::string_view text :
       {"reduce:factor=4", "reduce:factor=3,filter=binomial", "resize:size=37x41",
        "resize:scale=0.3,filter=lanczos3", "resize:scale=2.7,filter=cubic", "resize:scale=0.7,filter=area",
        "resize:scale=5,filter=area"}) {
    const StagePtr stage = parse_stage(text);
    const ImageSpec image{{113, 157}, 1, PixelType::f32};
    const Extent result = stage->output_spec(image).extent;
    for (std::int64_t rows = 1; rows <= result.rows; rows += 5) {
      for (std::int64_t row = 0; row + rows <= result.rows; ++row) {
        const Rect needed = stage->input_for({row, 0, rows, 1}, image);
        INFO(text << ", " << rows << " rows at " << row);
        REQUIRE_FALSE(needed.empty());
        REQUIRE(Rect::whole(image.extent).contains(needed));
        REQUIRE(needed.contains(stage->input_for({row + rows / 2, 0, (rows + 1) / 2, 1}, image)));
        REQUIRE(stage->transposed()->input_for({0, row, 1, rows}, {{157, 113}, 1, PixelType::f32}) ==
                Rect{needed.col, needed.row, needed.cols, needed.rows});
      }
    }
  }
}

TEST_CASE("a resize stage transposed twice is itself") {
  const StagePtr stage = parse_stage("resize:size=37x41,filter=cubic");
  CHECK(stage->transposed()->text() == "resize:size=37x41,filter=cubic (transposed)");
  CHECK(stage->transposed()->transposed()->text() == stage->text());
  CHECK(stage->transposed()->output_spec({{5, 6}, 1, PixelType::u8}).extent == Extent{37, 41});
}

TEST_CASE("resampling streams within a ceiling below the image's size") {
  const Image source = Image::of_pattern({{3000, 700}, 3, PixelType::u8}, Pattern::noise, 1);
  for (const std::string_view text :
       {"reduce:factor=7", "reduce:factor=4,filter=binomial", "resize:size=100x90,filter=lanczos3",
        "resize:scale=0.61,filter=cubic", "resize:scale=1.5"}) {
    for (const bool is_transposed : {false, true}) {
      Chain chain = Chain::parse({text});
      if (is_transposed) chain.then(parse_stage("transpose"));
      const Image expected(chain.result_spec(source.spec()));
      const Image streamed(expected.spec());
      run_whole_image(*source.reader(), *expected.writer(), chain);
      RunOptions options;
      options.max_memory_bytes = source.spec().bytes() / 3;
      options.threads = 2;
      const auto reader = source.reader();
      const auto writer = streamed.writer();
      const RunReport report = run(*reader, *writer, chain, options);
      INFO(text << (is_transposed ? ", transposed" : ""));
      CHECK(report.plan.memory.total() <= options.max_memory_bytes);
      CHECK(report.plan.band_count() > 2);
      CHECK(streamed == expected);
      // Rows are read once: rows that bands share are kept.
      if (!is_transposed) CHECK(report.plan.bytes_read == source.spec().bytes());
    }
  }
}

TEST_CASE("slots hold every band where bands are too many to look at each") {
  const Image source = Image::of_pattern({{509, 1021}, 1, PixelType::u8}, Pattern::noise, 4);
  const Chain chain = Chain::parse({"resize:size=445x64"});
  const Image expected(chain.result_spec(source.spec()));
  run_whole_image(*source.reader(), *expected.writer(), chain);
  const Image streamed(expected.spec());
  RunOptions options;
  options.band_rows = 1;
  options.band_cols = 1;
  const RunReport report = run(*source.reader(), *streamed.writer(), chain, options);
  CHECK(report.plan.band_count() == 64 * 445);
  CHECK(streamed == expected);
  for (const BandRange bands :
       {BandRange{0, 0}, BandRange{0, 65}, BandRange{63, 700}, BandRange{0, 64 * 445}}) {
    std::int64_t pixels = 0;
    for (std::int64_t index = bands.first; index < bands.end; ++index)
      pixels += report.plan.sink_rect(index).area();
    CHECK(report.plan.pixels_of(bands) == pixels);
  }
}

TEST_CASE("scales of rows that pass once, also where a band needs no row beyond the one before") {
  const Image source = Image::of_pattern({{90, 40}, 2, PixelType::u8}, Pattern::noise, 4);
  for (const std::string_view text : {"resize:scale=20,filter=lanczos3", "resize:scale=20,filter=area",
                                      "reduce:factor=13,filter=binomial", "resize:size=3x89"}) {
    const Chain chain = Chain::parse({text});
    const Image expected(chain.result_spec(source.spec()));
    run_whole_image(*source.reader(), *expected.writer(), chain);
    for (const std::int64_t band_rows : {1, 3, 50}) {
      std::int64_t next = 0;
      const auto reader = make_rows_reader(source.spec(), [&](std::int64_t first_row, const PixelView& out) {
        CHECK(first_row == next);
        next += out.extent.rows;
        copy_pixels(source.view().crop({first_row, 0, out.extent.rows, out.extent.cols}), out);
      });
      const Image streamed(expected.spec());
      RunOptions options;
      options.band_rows = band_rows;
      run(*reader, *streamed.writer(), chain, options);
      INFO(text << " in bands of " << band_rows);
      CHECK(streamed == expected);
    }
  }
}

TEST_CASE("strong reductions and enlargements have bands of usual size") {
  const auto make_plan = [](const std::string& stage, const ImageSpec& image, std::int64_t ceiling) {
    const Chain chain = Chain::parse({stage});
    const test::NullReader source(image, {});
    const test::NullWriter sink(chain.result_spec(image), {});
    return plan(source, sink, chain, {.max_memory_bytes = ceiling, .threads = 2});
  };
  for (const std::int64_t ceiling : {std::int64_t{4} << 30, std::int64_t{256} << 20}) {
    INFO("a ceiling of " << ceiling);
    const ImageSpec square{{20000, 20000}, 3, PixelType::u8};
    for (const std::string_view filter : {"box", "binomial"}) {
      const Plan hundredth = make_plan(fmt::format("reduce:factor=100,filter={}", filter), square, ceiling);
      CHECK(hundredth.slots == 3);
      CHECK(hundredth.band.cols == 200);
      CHECK(hundredth.band_count() >= 20);
      CHECK(hundredth.slot_input_bytes <= 80 << 20);
      CHECK(hundredth.bytes_read == square.bytes());
      CHECK(hundredth.tile.cols < 64);
    }
    const ImageSpec wide{{4096, 400'000}, 1, PixelType::u16};
    const Plan column = make_plan("reduce:factor=512", wide, ceiling);
    CHECK(column.band.rows == 1);
    CHECK(column.bytes_read == wide.bytes());
    const ImageSpec small{{400, 500}, 3, PixelType::u8};
    const Plan larger = make_plan("resize:scale=50,filter=cubic", small, ceiling);
    CHECK(larger.slots == 3);
    CHECK(larger.band_count() >= 20);
    CHECK(larger.slot_output_bytes <= 40 << 20);
    CHECK(larger.bytes_read == small.bytes());
  }
  const ImageSpec wide{{4096, 400'000}, 1, PixelType::u8};
  CHECK(make_plan("reduce:factor=512", wide, 16 << 20).band.cols < 64);
}

TEST_CASE("work of a scale is that of the longer sides, whether the stage knows the ratio or not") {
  const ImageSpec image{{1000, 2000}, 1, PixelType::f32};
  const auto operations = [&](std::string_view stage) {
    const Chain chain = Chain::parse({stage});
    return tile_operations(Graph(chain, image), chain.result_spec(image).extent);
  };
  CHECK(operations("resize:size=20x10") == operations("resize:scale=0.01"));
  CHECK(operations("resize:size=20x10,filter=area") == operations("reduce:factor=100"));
  CHECK(operations("resize:scale=0.01,filter=lanczos3") == 3 * operations("resize:scale=0.01"));
  CHECK(operations("resize:scale=0.01") == 2 * (1000.0 * 2000 + 1000.0 * 20));
  CHECK(operations("resize:scale=10") == 2 * (1000.0 * 20000 + 10000.0 * 20000));
}

TEST_CASE("blocks of a file that are encoded whole are smaller where each pixel is made of many") {
  const Chain chain = Chain::parse({"reduce:factor=100"});
  const test::NullReader source({{20000, 20000}, 3, PixelType::u8}, {});
  const FileLayout layout = output_like(source, chain).layout;
  CHECK_FALSE(layout.tiled);
  CHECK(layout.rows_per_strip == 1);
  CHECK(output_like(source, Chain::parse({"abs"})).layout.rows_per_strip == 0);
}
