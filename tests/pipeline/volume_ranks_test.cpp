// Ranks of windows over several planes of a stack.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../support/gpu.hpp"
#include "kernels/rank/rank.hpp"
#include "stack_file.hpp"

using namespace sepconv;
using namespace sepconv::test;

TEST_CASE("volumes: ranks of windows over several planes, in bands, in one position after the other") {
  const Chain chain = Chain::parse({GENERATE(
      "median:radius=2,radius_y=1,radius_z=1", "rank:rank=7,size=4x3,size_z=4,origin_z=1,border=wrap",
      "percentile:percent=80,radius=0,radius_z=3,border=constant,value=900",
      "max:chain=[median:radius_z=2 | gaussian:sigma=1,sigma_z=1]")});
  const RasterAxes axes = GENERATE(RasterAxes{{"z", 11}}, RasterAxes{{"t", 2}, {"z", 4}, {"c", 2}});
  const std::int64_t planes = GENERATE(1, 3, 100);
  CAPTURE(chain.text(), to_string(axes), planes);
  StackFile volumes("v.ome.tif", axes);
  RunOptions options = in_bands(planes);
  FailingMemory memory(-1, page_resource());
  options.memory = &memory;
  const RunReport report = run_file(volumes.in, volumes.out, chain, options);
  CHECK(volumes.is_result_of(chain));
  CHECK(memory.peak_bytes() <= report.plan.memory.slots + report.plan.memory.scratch);
}

TEST_CASE(
    "volumes: ranks of windows over several planes are the CPU's where a kernel is not told of so many") {
  const auto host_only = [](const std::string& text) {
    const Chain chain = Chain::parse({"box", text});
    const Chain result_text = on_volume(chain, kPlane, {kPlane.extent, 6, 1});
    return result_text.why_not_on_device() ==
           fmt::format("stage '{}' does not run on a GPU", chain.stages().back()->text());
  };
  const std::int64_t max_planes = kMaxDeviceRankPlanes;
  CHECK_FALSE(host_only(fmt::format("rank:rank=0,radius=0,size_z={}", max_planes)));
  CHECK(host_only(fmt::format("rank:rank=0,radius=0,size_z={}", max_planes + 1)));
  CHECK(host_only(fmt::format("max:chain=[median:radius=0,radius_z={}]", max_planes / 2 + 1)));
}

TEST_CASE("volumes: ranks of windows over several planes on a GPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Chain chain = Chain::parse(
      {GENERATE("median:radius=1,radius_z=1", "rank:rank=7,size=4x3,size_z=4,origin_z=1,border=wrap",
                "percentile:percent=80,radius=0,radius_z=3,border=constant,value=900",
                "max:chain=[median:radius_z=2 | gaussian:sigma=1,sigma_z=1]",
                "median:radius=9,radius_z=1,border=wrap")});
  const std::int64_t planes = GENERATE(1, 4, 100);
  CAPTURE(chain.text(), planes);
  StackFile volumes("v.ome.tif", {{"t", 2}, {"z", 9}, {"c", 2}});
  run_file(volumes.in, volumes.out, chain, in_bands(planes, {0}));
  CHECK(volumes.is_result_of(chain));
}

TEST_CASE("volumes: ranks over several planes on a GPU leave missing pixels out", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Chain chain = Chain::parse({"multiply:chain=[threshold:at=20000 | divide:chain=scale]",
                                    "median:radius=1,radius_z=1,nodata=ignore",
                                    "percentile:percent=30,radius=2,radius_z=2,border=wrap,nodata=fill"});
  StackFile volumes("v.ome.tif", {{"t", 2}, {"z", 9}, {"c", 2}});
  run_file(volumes.in, volumes.out, chain, in_bands(4, {0}));
  CHECK(volumes.is_result_of(chain));
}

TEST_CASE("volumes: cylinders on a GPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Chain chain = Chain::parse({"opening:radius=3,radius_y=2,radius_z=1,shape=disk,border=wrap",
                                    "tophat:radius=70,radius_z=1,shape=disk"});
  StackFile volumes("v.ome.tif", {{"t", 2}, {"z", 9}, {"c", 2}});
  run_file(volumes.in, volumes.out, chain, in_bands(4, {0}));
  CHECK(volumes.is_result_of(chain));
}

TEST_CASE("volumes: missing pixels count for nothing in ranks over several planes") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> planes{1, nan, 3, 4, nan, 6};  // three planes of two pixels each
  const Image volume({{3, 2}, 1, PixelType::f32});
  std::copy(planes.begin(), planes.end(), reinterpret_cast<float*>(volume.view().data));
  const auto result_text = [&](const char* text, bool ignores_missing) {
    Chain chain = on_volume(Chain::parse({text}), {{1, 2}, 1, PixelType::f32}, {{1, 2}, 3, 1});
    if (ignores_missing) chain = Chain(chain.stages().front()->with_nodata());
    const Image result(volume.spec());
    run_whole_image(*volume.reader(), *result.writer(), chain);
    std::string all;
    for (std::int64_t row = 0; row < 3; ++row)
      for (std::int64_t col = 0; col < 2; ++col) {
        const float value = result.view().row<float>(row)[col];
        all += std::isnan(value) ? "-" : std::to_string(static_cast<int>(value));
      }
    return all;
  };
  const char* const text = "median:radius=0,radius_z=1,border=replicate";
  CHECK(result_text(text, false) == "1----6");
  CHECK(result_text(text, true) == "1-36-6");
  CHECK(result_text("median:radius=0,radius_z=1,border=replicate,nodata=fill", true) == "143636");
}
