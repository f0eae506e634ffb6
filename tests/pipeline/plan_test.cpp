#include "pipeline/plan/plan.hpp"

#include <catch2/catch.hpp>

#include "../support/image.hpp"
#include "../support/null_io.hpp"
#include "core/error.hpp"
#include "pipeline/chain/graph_tile.hpp"

using namespace sepconv;
using Catch::Contains;
using sepconv::test::NullReader;
using sepconv::test::NullWriter;
using sepconv::test::plan_for;

namespace {

void check_bands_cover_image(const Plan& plan) {
  std::int64_t area = 0;
  for (std::int64_t band = 0; band < plan.band_count(); ++band) {
    const Rect rect = plan.band_rect(band);
    REQUIRE_FALSE(rect.empty());
    REQUIRE(Rect::whole(plan.result().extent).contains(rect));
    area += rect.area();
  }
  CHECK(area == plan.result().extent.area());
}

}  // namespace

TEST_CASE(
    "bands are whole tiles or equal parts of them where tiles may be cut, and stay small whichever side has "
    "the larger pixels") {
  const std::vector<std::string> to_f32{"gaussian:sigma=2,radius=8", "cast:type=f32"};
  const std::vector<std::string> to_u8{"gaussian:sigma=2,radius=8"};
  for (const auto& stages : {to_f32, to_u8}) {
    const Chain chain = Chain::parse(stages);
    for (const Extent extent : {Extent{12'000, 12'000},
                                {16'384, 16'384},
                                {20'000, 20'000},
                                {6000, 6000},
                                {9000, 3000},
                                {100, 6000}}) {
      const ImageSpec spec{extent, 1, PixelType::u8};
      for (const std::int64_t max_memory : {1 << 30, 24 << 20}) {
        for (const bool cuts_source : {false, true}) {
          for (const bool cuts_sink : {false, true}) {
            const NullReader source(spec, {.block = {512, 512}, .partial_blocks = cuts_source});
            const NullWriter sink(chain.result_spec(spec),
                                  {.block = {512, 512}, .partial_blocks = cuts_sink});
            const PlanOptions options{.max_memory_bytes = cuts_source && cuts_sink ? max_memory : 1 << 30,
                                      .threads = 2};
            const Plan plan = sepconv::plan(source, sink, chain, options);
            INFO(extent.rows << ' ' << extent.cols << ' ' << cuts_source << cuts_sink << ' '
                             << plan.band.rows);
            CHECK(plan.memory.total() <= options.max_memory_bytes);
            const std::int64_t rows = plan.band.rows;
            if (plan.band.cols == extent.cols)
              CHECK((rows == extent.rows || rows % 512 == 0 || (cuts_sink && 512 % rows == 0)));
            if (max_memory > 24 << 20 && rows < extent.rows)
              CHECK(rows >= 64);  // shorter parts of tiles would be slow
            if (cuts_source && cuts_sink) CHECK(plan.slot_output_bytes <= 16 << 20);
          }
        }
      }
    }
  }
}

TEST_CASE("a large tiled image is cut into rows of tiles inside the ceiling") {
  const ImageSpec spec{{65536, 65536}, 1, PixelType::u8};
  const Plan plan = plan_for(spec, {512, 512}, {512, 512}, {"gaussian:sigma=2"},
                             {.max_memory_bytes = 256 << 20, .threads = 2});
  CHECK(plan.memory.total() <= 256 << 20);
  CHECK(plan.band.cols == 65536);
  CHECK(plan.band.rows % 512 == 0);
  CHECK(plan.bytes_read == spec.bytes());
  CHECK(plan.slots >= 2);
  check_bands_cover_image(plan);
}

TEST_CASE("a very wide image gets column tiles where a row of tiles does not fit") {
  const ImageSpec spec{{2000, 1000000}, 1, PixelType::f32};
  const Plan tiled = plan_for(spec, {512, 512}, {512, 512}, {"gaussian:sigma=2"},
                              {.max_memory_bytes = 256 << 20, .threads = 2});
  CHECK(tiled.memory.total() <= 256 << 20);
  CHECK(tiled.band.cols < 1000000);
  CHECK(tiled.band.cols % 512 == 0);
  CHECK(tiled.bytes_read > spec.bytes());
  check_bands_cover_image(tiled);

  const Plan flat_plan =
      plan_for(spec, {1, 1}, {1, 1}, {"gaussian:sigma=2"}, {.max_memory_bytes = 1 << 30, .threads = 2});
  CHECK(flat_plan.band.cols == 1000000);
}

TEST_CASE("fewer slots are explained by what made them fewer") {
  const auto note_of = [](const ImageSpec& spec, const PlanOptions& options) {
    const Plan plan = plan_for(spec, {1, 1}, {1, 1}, {"gaussian:sigma=2"}, options);
    REQUIRE(plan.slots < 3);
    std::string notes;
    for (const std::string& note : plan.notes) notes += note + "\n";
    return notes;
  };
  const std::int64_t one_gib = std::int64_t{1} << 30;
  CHECK_THAT(note_of({{8, 8}, 1, PixelType::u8}, {.max_memory_bytes = one_gib, .threads = 1}),
             Contains("because there is only one band"));
  CHECK_THAT(note_of({{8, 8}, 1, PixelType::u8}, {.max_memory_bytes = one_gib, .threads = 1, .band_cols = 4}),
             Contains("because there are only 2 bands"));
  CHECK_THAT(
      note_of({{8, 4000}, 1, PixelType::u8}, {.max_memory_bytes = one_gib, .threads = 1, .band_cols = 40}),
      Contains("with so few bands from top to bottom more slots would not be faster"));
  CHECK_THAT(note_of({{4000, 100000}, 1, PixelType::f32},
                     {.max_memory_bytes = 12 << 20, .threads = 1, .band_rows = 4, .band_cols = 100000}),
             Contains("because memory is short"));
}

TEST_CASE("a narrow image streams in tall bands") {
  const Plan plan = plan_for({{1000000, 3}, 1, PixelType::u8}, {1, 1}, {1, 1}, {"box:radius=50"},
                             {.max_memory_bytes = 64 << 20, .threads = 2});
  CHECK(plan.memory.total() <= 64 << 20);
  CHECK(plan.band.rows > 1000);
  CHECK(plan.recomputed < 0.2 * plan.operations);
}

TEST_CASE("bands and tiles are large against their overhead, and a small image has several") {
  const auto plan_flat = [](Extent extent, const char* stage) {
    return plan_for({extent, 1, PixelType::u8}, {1, 1}, {1, 1}, {stage},
                    {.max_memory_bytes = 1 << 30, .threads = 2});
  };
  for (const Extent extent : {Extent{2000, 1000000}, {4000000, 1000}, {16384, 16384}, {65536, 65536}}) {
    for (const char* stage : {"abs", "gaussian:sigma=2"}) {
      const Plan plan = plan_flat(extent, stage);
      INFO(stage << ", bands of " << plan.band.rows << " x " << plan.band.cols << ", tiles of "
                 << plan.tile.rows << " x " << plan.tile.cols);
      CHECK(plan.band.area() >= 2 << 20);
      CHECK(plan.tile.area() >= 64 << 10);
    }
  }
  const Plan small = plan_flat({4096, 4096}, "gaussian:sigma=2");
  CHECK(ceil_div(4096, small.band.rows) >= 4);
  CHECK(ceil_div(4096, small.band.rows) <= 32);
}

TEST_CASE("windows that split their scratch get whole rows, even if these exceed a cache") {
  for (const char* stage : {"erode:radius=32", "dilate:radius=32", "box:radius=32"}) {
    const Plan plan = plan_for({{8192, 8192}, 1, PixelType::u16}, {1, 1}, {1, 1}, {stage},
                               {.max_memory_bytes = std::int64_t{4} << 30, .threads = 1});
    INFO(stage << ", tiles of " << plan.tile.rows << " x " << plan.tile.cols);
    CHECK(plan.tile.cols == 8192);
  }
}

TEST_CASE("the caller's options are kept") {
  const PlanOptions options{.max_memory_bytes = 1 << 30,
                            .threads = 3,
                            .slots = 4,
                            .band_rows = 100,
                            .band_cols = 50,
                            .tile = {7, 9}};
  const Plan plan = plan_for({{1000, 333}, 2, PixelType::u16}, {1, 1}, {1, 1}, {"box", "abs"}, options);
  CHECK(plan.band == Extent{100, 50});
  CHECK(plan.slots == 4);
  CHECK(plan.threads == 3);
  CHECK(plan.tile == Extent{7, 9});
  CHECK(plan.band_count() == 70);
  check_bands_cover_image(plan);
  CHECK(plan_for({{1000, 333}, 2, PixelType::u16}, {1, 1}, {64, 333}, {}, {.band_rows = 100}).band.rows ==
        128);
}

TEST_CASE("options that make no sense are refused") {
  const ImageSpec spec{{10, 10}, 1, PixelType::u8};
  for (const PlanOptions& options :
       {PlanOptions{.max_memory_bytes = -1}, PlanOptions{.threads = -1}, PlanOptions{.threads = 5000},
        PlanOptions{.slots = 65}, PlanOptions{.slots = -1}, PlanOptions{.band_rows = -5},
        PlanOptions{.band_cols = -5}}) {
    CHECK_THROWS_AS(plan_for(spec, {1, 1}, {1, 1}, {}, options), InvalidArgument);
  }
}

TEST_CASE("GPUs that make no sense are refused before one is asked for") {
  for (const std::vector<int>& devices : std::vector<std::vector<int>>{{0, 0}, {1, 0, 1}, {-1}}) {
    const PlanOptions options{.devices = devices};
    CHECK_THROWS_AS(plan_for({{100, 100}, 1, PixelType::u8}, {1, 1}, {1, 1}, {"box:radius=2"}, options),
                    InvalidArgument);
  }
}

TEST_CASE("a source that cannot be streamed is reported") {
  const ImageSpec spec{{1000, 1000}, 3, PixelType::u8};
  const NullReader source(spec, {.block = spec.extent, .streams = false, .description = "PNG"});
  const NullWriter sink(spec, {});
  const Plan plan = sepconv::plan(source, sink, Chain(), {.max_memory_bytes = 64 << 20});
  CHECK_FALSE(plan.streams);
  CHECK(plan.memory.source == spec.bytes());
  const std::string text = describe(plan, source, sink);
  CHECK_THAT(text, Contains("streams    no") && Contains("decoded into memory"));
  CHECK_THROWS_AS(sepconv::plan(source, sink, Chain(), {.max_memory_bytes = 1 << 20}), OutOfMemory);
}

TEST_CASE("a source of rows in order is never cut into column tiles") {
  const ImageSpec spec{{2000, 100000}, 1, PixelType::f32};
  const NullReader source(spec, {.access = Access::sequential});
  const NullWriter sink(spec, {});
  CHECK(sepconv::plan(source, sink, Chain(), {.max_memory_bytes = 32 << 20, .threads = 1}).band.cols ==
        100000);
  CHECK_THROWS_AS(sepconv::plan(source, sink, Chain(), {.max_memory_bytes = 1 << 30, .band_cols = 100}),
                  InvalidArgument);
}

TEST_CASE("scratch of any tile is at most the planned one") {
  const ImageSpec spec{{300, 400}, 3, PixelType::u16};
  for (const char* stages : {"gaussian:sigma=3", "unsharp:sigma=2", "gradient", "dog:sigma=1,sigma2=4"}) {
    const Chain chain =
        Chain::parse(std::vector<std::string>{stages, "box:radius=5", "gaussian_laplace:sigma=1"});
    const Graph graph(chain, spec);
    const test::Image source = test::Image::of_pattern(spec, Pattern::noise, 1);
    const test::Image result(graph.result());
    const Extent tile{37, 53};
    Worker worker(Buffer(tile_scratch_bytes(graph, tile, Arithmetic::f32)));
    for (const Rect& rect : tiles_of(Rect::whole(spec.extent), tile)) {
      compute_tile(graph, Arithmetic::f32, Region::whole(source.view()),
                   Region::whole(result.view()).crop(rect), worker);
      CHECK(worker.used_bytes() == 0);
    }
  }
}
