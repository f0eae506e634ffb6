#include <catch2/catch.hpp>

#include "../support/null_io.hpp"
#include "../support/parse_size.hpp"
#include "core/error.hpp"

using namespace sepconv;
using sepconv::test::plan_for;

TEST_CASE("a ceiling that is too small names one that is enough") {
  struct Case {
    ImageSpec spec;
    Extent source_block, sink_block;
    std::vector<std::string> stages;
  };
  const std::vector<Case> cases{
      {{{65536, 65536}, 1, PixelType::u8}, {512, 512}, {512, 512}, {"gaussian:sigma=2"}},
      // The largest band is not the first, middle or last one.
      {{{600, 60'000}, 1, PixelType::u16}, {256, 256}, {64, 64}, {"resize:scale=0.3"}},
      {{{600, 60'000}, 1, PixelType::u16}, {256, 256}, {256, 256}, {"resize:scale=0.3"}},
      {{{5000, 7001}, 3, PixelType::u8}, {1, 1}, {16, 16}, {"resize:scale=0.7", "cast:type=f32"}},
      // With such long rows a sufficient ceiling still limits the scratch.
      {{{600, 6'000'000}, 1, PixelType::f32}, {1, 6'000'000}, {1, 6'000'000}, {"gaussian:sigma=20"}},
      {{{600, 600'000}, 3, PixelType::f64},
       {16, 600'000},
       {16, 600'000},
       {"median:radius=3", "gaussian:sigma=9"}},
  };
  for (const Case& c : cases) {
    for (const int threads : {1, 2, 16}) {
      for (const std::int64_t ceiling : {std::int64_t{1} << 10, std::int64_t{8} << 20}) {
        PlanOptions options{.max_memory_bytes = ceiling, .threads = threads};
        const auto planned_bytes = [&] {
          return plan_for(c.spec, c.source_block, c.sink_block, c.stages, options).memory.total();
        };
        test::ParsedSize smallest;
        try {
          planned_bytes();
          continue;
        } catch (const OutOfMemory& error) {
          smallest = test::parse_size_after(error.what(), " is ");
        }
        INFO(c.stages.front() << ", blocks of " << c.sink_block.cols << ", " << threads << " threads, "
                              << ceiling << " bytes: " << smallest.bytes);
        REQUIRE(smallest.bytes > ceiling);
        options.max_memory_bytes = smallest.bytes;
        CHECK(planned_bytes() <= smallest.bytes);
        options.max_memory_bytes = smallest.bytes - smallest.unit;
        CHECK_THROWS_AS(planned_bytes(), OutOfMemory);
      }
    }
  }
}

TEST_CASE("bands begin and end where the sink's blocks do, whatever the scale and the ceiling") {
  const ImageSpec spec{{1800, 1500}, 1, PixelType::u16};
  for (const char* const stage : {"reduce:factor=3", "reduce:factor=7", "resize:scale=0.3",
                                  "resize:scale=0.4", "resize:scale=1.7", "transpose", "gaussian:sigma=2"}) {
    for (const Extent block : {Extent{16, 16}, {1, 16}, {48, 80}, {64, 64}, {2048, 2048}}) {
      std::int64_t narrow_plans = 0;
      for (std::int64_t ceiling = std::int64_t{1} << 30; ceiling > 1 << 10; ceiling -= ceiling / 8) {
        const PlanOptions options{.max_memory_bytes = ceiling, .threads = 1};
        try {
          const Plan plan = plan_for(spec, {256, 256}, block, {stage}, options);
          INFO(stage << ", blocks of " << block.rows << " x " << block.cols << ", " << ceiling
                     << " bytes: " << plan.band.rows << " x " << plan.band.cols);
          const Extent image = plan.result().extent;
          CHECK((plan.band.rows % block.rows == 0 || plan.band.rows == image.rows));
          CHECK((plan.band.cols % block.cols == 0 || plan.band.cols == image.cols));
          narrow_plans += plan.band.cols < image.cols ? 1 : 0;
        } catch (const OutOfMemory&) {
          break;
        }
      }
      CHECK((narrow_plans > 0 || block.cols == 2048));
    }
  }
}
