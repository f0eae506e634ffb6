// Stacks that are filtered along z: the planes of a file as the rows of one image.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "../support/gpu.hpp"
#include "core/error.hpp"
#include "pipeline/job/plan_json.hpp"
#include "stack_file.hpp"

using namespace sepconv;
using namespace sepconv::test;
using Catch::Matchers::Contains;

namespace {

Chain blur() { return Chain::parse({"gaussian:sigma=1.5,sigma_z=2", "box:radius=1,radius_z=1,border=wrap"}); }

/// Filters noise of which a third is NaN (0 / 0), with nodata handling by weights, with and without passes
/// within planes, and by windows.
Chain ignoring_missing() {
  return Chain::parse({"multiply:chain=[threshold:at=20000 | divide:chain=scale]",
                       "gaussian:sigma=1,sigma_z=1,nodata=ignore", "erode:radius_z=1,nodata=ignore",
                       "convolve:z=1,2,4,nodata=ignore", "box:radius_z=1,border=constant,value=3,nodata=fill",
                       "closing:radius_z=1,border=wrap,nodata=ignore"});
}

/// Composite filters on pixels of which some are missing.
Chain composite_filters() {
  return Chain::parse({"multiply:chain=[threshold:at=9000 | divide:chain=scale]",
                       "dog:sigma=1,sigma_z=1,sigma2=1.5,sigma2_z=2,nodata=fill",
                       "unsharp:sigma=1,sigma_z=1,border=wrap,nodata=ignore",
                       "gaussian_laplace:sigma=0.5,sigma_z=1,nodata=propagate",
                       "gradient:axes=xyz,nodata=propagate", "stddev:radius_z=1,nodata=fill",
                       "subtract:chain=[local_normalize:radius_z=2,border=wrap,nodata=ignore]",
                       "scale:factor=9,offset=20000"});
}

std::string error_of(const StackFile& volumes, const Chain& chain, const RunOptions& options = {}) {
  try {
    run_file(volumes.in, volumes.out, chain, options);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("volumes: planes of every format and order of axes are filtered along z, in bands of planes") {
  const RasterAxes axes = GENERATE(RasterAxes{{"z", 11}}, RasterAxes{{"t", 2}, {"c", 2}, {"z", 5}},
                                   RasterAxes{{"t", 1}, {"z", 7}, {"c", 3}});
  const char* const name = GENERATE("v.ome.tif", "v.npy", "v.zarr");
  const std::int64_t planes = GENERATE(1, 3, 100);
  if (axes.front().size == 1 && std::string(name) == "v.npy") return;    // NPY omits axes of size 1
  if (axes.back().name == "c" && std::string(name) == "v.zarr") return;  // OME-Zarr has z after c
  CAPTURE(to_string(axes), name, planes);
  StackFile volumes(name, axes);
  FileOptions files;
  if (std::string(name) == "v.npy") files.open.axes = axes.size() == 1 ? "zyx" : "tczyx";
  const RunReport report = run_file(volumes.in, volumes.out, blur(), in_bands(planes), files);
  CHECK(report.plan.band.rows == std::min(planes, volumes.volume.depth));
  if (files.open.axes.empty()) CHECK(volumes.is_result_of(blur()));
}

TEST_CASE("volumes: stages beside those along z act within planes, and shapes and types follow") {
  StackFile volumes("v.ome.tif", {{"z", 6}});
  const Chain chain =
      Chain::parse({"convolve:z=1,-2,3", "transpose", "reduce:factor=2", "sobel:axis=z", "cast:type=f32"});
  run_file(volumes.in, volumes.out, chain, in_bands(2));
  CHECK(volumes.is_result_of(chain));
}

TEST_CASE("volumes: a plan keeps its ceiling, and says that planes are rows") {
  StackFile volumes("v.ome.tif", {{"z", 40}});
  RunOptions options;
  options.max_memory_bytes = 1 << 20;
  options.threads = 2;
  FailingMemory memory(-1, page_resource());
  options.memory = &memory;
  const RunReport report = run_file(volumes.in, volumes.out, blur(), options);
  CHECK(volumes.is_result_of(blur()));
  CHECK(report.plan.memory.total() <= options.max_memory_bytes);
  CHECK(memory.peak_bytes() <= report.plan.memory.slots + report.plan.memory.scratch);
  CHECK_THAT(report.plan.source_layout, Contains("40 planes along z as rows"));
  CHECK(report.plan.chain.text() == blur().text());
}

TEST_CASE("volumes: a stored plan is that of the file's planes") {
  StackFile volumes("v.ome.tif", {{"z", 8}});
  const ImageJob planned = plan_file(volumes.in, volumes.out, blur(), in_bands(3));
  const PlanRecord record = parse_plan(to_json(planned.plan));
  ImageJob job = plan_file(volumes.in, volumes.out, Chain::parse(record.stages), record);
  run(job);
  CHECK(volumes.is_result_of(blur()));
}

TEST_CASE("volumes: inputs without z and regions are refused before anything is created") {
  const StackFile times("c.ome.tif", {{"t", 3}});
  CHECK_THAT(error_of(times, blur()), Contains("axis z"));
  const StackFile volumes("v.ome.tif", {{"z", 4}});
  RunOptions region;
  region.region = {0, 0, 5, 5};
  CHECK_THAT(error_of(volumes, blur(), region), Contains("a region"));
  CHECK_FALSE(std::filesystem::exists(volumes.out));
  const Image image = Image::of_pattern(kPlane, Pattern::noise, 1);
  const Image result(kPlane);
  CHECK_THROWS_WITH(run(*image.reader(), *result.writer(), blur()), Contains("has no axis z"));
}

TEST_CASE("volumes: missing pixels are left out along z, in bands of planes") {
  StackFile volumes("v.ome.tif", {{"t", 2}, {"z", 9}, {"c", 2}});
  const Chain chain = GENERATE(true, false) ? ignoring_missing() : composite_filters();
  run_file(volumes.in, volumes.out, chain, in_bands(GENERATE(1, 4, 100)));
  CHECK(volumes.is_result_of(chain));
}

TEST_CASE("volumes: scratch of what leaves missing pixels out is planned") {
  StackFile volumes("v.ome.tif", {{"z", 40}});
  const Chain chain = GENERATE(true, false) ? ignoring_missing() : composite_filters();
  RunOptions options;
  options.max_memory_bytes = 3 << 20;
  options.threads = 2;
  FailingMemory memory(-1, page_resource());
  options.memory = &memory;
  const RunReport report = run_file(volumes.in, volumes.out, chain, options);
  CHECK(volumes.is_result_of(chain));
  CHECK(report.plan.memory.total() <= options.max_memory_bytes);
  CHECK(memory.peak_bytes() <= report.plan.memory.slots + report.plan.memory.scratch);
}

TEST_CASE("volumes: coefficients beyond f32 of one filter are used in f64") {
  const ImageSpec plane{{9, 9}, 1, PixelType::f32};
  for (const std::string text : {"gaussian:sigma=1,sigma_z=1e-20,radius_z=1,order_z=2",
                                 "gaussian_laplace:sigma=1,sigma_z=1e-20,radius_z=1"}) {
    INFO(text);
    const Chain chain = Chain::parse({text});
    CHECK(chain.arithmetic(plane) == Arithmetic::f64);
    CHECK(on_volume(chain, plane, {plane.extent, 5}).arithmetic({{5, 81}, 1, PixelType::f32}) ==
          Arithmetic::f64);
  }
}

TEST_CASE("volumes: a GPU has the matrix that planes are multiplied by", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  StackFile volumes("v.ome.tif", {{"z", 6}});
  const std::int64_t cols = kPlane.extent.cols;
  const Image matrix = Image::of_pattern({{cols, 5}, 1, PixelType::f32}, Pattern::noise, 3);
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "b.npy";
  run(*matrix.reader(), *create_writer(file, matrix.spec(), {}), Chain());
  const Chain chain = Chain::parse({"gemm:file=" + file.string(), "gaussian:sigma=1,sigma_z=1"});
  run_file(volumes.in, volumes.out, chain, in_bands(2, {0}));
  CHECK(volumes.is_result_of(chain));
}

TEST_CASE("volumes: planes are filtered along z on a GPU", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  StackFile volumes("v.ome.tif", {{"t", 2}, {"z", 9}, {"c", 2}});
  run_file(volumes.in, volumes.out, blur(), in_bands(4, {0}));
  CHECK(volumes.is_result_of(blur()));
}

TEST_CASE("volumes: a GPU leaves missing pixels out along z", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  StackFile volumes("v.ome.tif", {{"t", 2}, {"z", 9}, {"c", 2}});
  const Chain chain = GENERATE(true, false) ? ignoring_missing() : composite_filters();
  run_file(volumes.in, volumes.out, chain, in_bands(4, {0}));
  CHECK(volumes.is_result_of(chain));
}
