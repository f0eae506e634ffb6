// Files of several images: one plan, one output file, on any device.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "../io/temporary_folder.hpp"
#include "../support/fault_injection.hpp"
#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "core/error.hpp"
#include "pipeline/run/run_file.hpp"

using namespace sepconv;
using namespace sepconv::test;
using Catch::Matchers::Contains;

namespace {

constexpr ImageSpec kPlane{{90, 70}, 1, PixelType::u16};
const RasterAxes kAxes{{"t", 1}, {"c", 2}, {"z", 3}};

struct Stack {
  TemporaryFolder folder;
  std::filesystem::path in = folder.path() / "in.ome.tif", out = folder.path() / "out.ome.tif";
  std::vector<Image> planes;

  Stack() {
    const auto actual = create_set(in, {kPlane, kAxes}, {});
    for (unsigned i = 0; i < 6; ++i) {
      planes.push_back(Image::of_pattern(kPlane, Pattern::noise, i));
      run(*planes.back().reader(), *actual->next({}), Chain());
    }
    actual->finish();
  }
};

Chain blur() { return Chain::parse({"gaussian:sigma=2", "abs"}); }

RunOptions in_small_bands(bool on_device) {
  RunOptions options;
  options.threads = 2;
  options.band_rows = 16;
  options.max_memory_bytes = 4 << 20;
  if (on_device) options.devices = {0};
  return options;
}

/// Whether all planes equal the whole-image runner's results.
bool is_blurred(const Stack& stack) {
  const auto set = open_set(stack.out);
  bool same = set->axes() == kAxes;
  for (std::int64_t i = 0; i < set->count(); ++i) {
    const Image actual(kPlane), expected(kPlane);
    run(*set->raster(i), *actual.writer(), Chain());
    run_whole_image(*stack.planes[static_cast<std::size_t>(i)].reader(), *expected.writer(), blur());
    same = same && actual == expected;
  }
  return same;
}

void check_run(bool on_device, bool with_cpu = false) {
  const Stack stack;
  FailingMemory host(-1, page_resource()), pinned(-1, pinned_resource()), memory(-1, device_resource());
  RunOptions options = in_small_bands(on_device);
  options.with_cpu = with_cpu;
  options.memory = &host;
  options.pinned_memory = &pinned;
  options.device_memory = &memory;
  std::vector<Progress> reports;
  options.progress = [&](const Progress& progress) { reports.push_back(progress); };
  const RunReport report = run_file(stack.in, stack.out, blur(), options);
  CHECK(is_blurred(stack));
  CHECK(report.rasters == 6);
  CHECK(report.pixels == 6 * kPlane.extent.area());
  CHECK(report.plan.axes == kAxes);
  CHECK(host.peak_bytes() + pinned.peak_bytes() <= report.plan.memory.slots + report.plan.memory.scratch);
  CHECK(memory.peak_bytes() <= report.plan.device_memory.total());
  REQUIRE(std::ssize(reports) == 6 * report.plan.band_count());
  CHECK(std::ranges::is_sorted(reports, std::less{}, &Progress::pixels_done));
  CHECK(reports.front().pixels == 6 * kPlane.extent.area());
  CHECK(reports.back().pixels_done == reports.back().pixels);
  CHECK(reports.back().bands_done == reports.back().bands);
  CHECK(report.plan.with_cpu == with_cpu);
  CHECK(report.lanes.size() == (with_cpu ? 2u : 1u));
  std::int64_t bands = 0, pixels = 0;
  for (const LaneReport& lane : report.lanes) bands += lane.bands, pixels += lane.pixels;
  CHECK(bands == reports.back().bands);
  CHECK(pixels == report.pixels);
}

}  // namespace

TEST_CASE("stack: every image is that of a run of its own, in the plan's memory, and the report is of all") {
  check_run(false);
}

TEST_CASE("stack: on a GPU, too", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  check_run(true);
  check_run(true, true);
}

TEST_CASE("stack: a failed allocation leaves no file, or all images use a smaller plan") {
  for (int call = 0; call < 12; ++call) {
    const Stack stack;
    FailingMemory host(call, page_resource());
    RunOptions options = in_small_bands(false);
    options.band_rows = 0;
    options.memory = &host;
    try {
      run_file(stack.in, stack.out, blur(), options);
      CHECK(is_blurred(stack));
    } catch (const OutOfMemory&) {
      CHECK(stack.folder.files() == std::vector<std::string>{"in.ome.tif"});
    }
  }
}

TEST_CASE("stack: a stop during any image leaves no file") {
  for (const std::int64_t bands : {1, 7, 20, 36}) {
    const Stack stack;
    std::stop_source stop;
    RunOptions options = in_small_bands(false);
    options.stop = stop.get_token();
    options.progress = [&](const Progress& progress) {
      if (progress.bands_done == bands) stop.request_stop();
    };
    CHECK_THROWS_AS(run_file(stack.in, stack.out, blur(), options), Cancelled);
    CHECK(stack.folder.files() == std::vector<std::string>{"in.ome.tif"});
  }
}

TEST_CASE("stack: a stored plan is valid only for its axes") {
  const Stack stack;
  const ImageJob job = plan_file(stack.in, stack.out, blur(), in_small_bands(false));
  const PlanRecord record = parse_plan(to_json(job.plan));
  CHECK(record.axes == kAxes);
  ImageJob replanned = plan_file(stack.in, stack.out, blur(), record);
  CHECK(run(replanned).rasters == 6);
  CHECK(is_blurred(stack));
  FileOptions part;
  part.open.select = "z=1";
  part.output.overwrite = true;
  CHECK_THROWS_WITH(plan_file(stack.in, stack.out, blur(), record, part),
                    Contains("its rasters are c 2, z 3 in it and c 2 now"));
  CHECK_THROWS_WITH(run(replanned, {.bands = BandRange{0, 1}}), Contains("bands are of one image"));
}
