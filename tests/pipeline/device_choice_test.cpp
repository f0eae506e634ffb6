// The device that a plan chooses on the simulated GPU, from a given machine model, not from measured times.
#include "pipeline/plan/device_choice.hpp"

#include <algorithm>
#include <catch2/catch.hpp>

#include "../simulated_gpu/simulated_gpu.hpp"
#include "../support/image.hpp"
#include "../support/null_io.hpp"
#include "io/memory_image.hpp"
#include "io/test_pattern.hpp"
#include "pipeline/gemm/gemm.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using Catch::Contains;

namespace {

/// The host of an H200 with 16 processors, each with 25 multiply-adds per nanosecond.
PlanOptions on_h200() {
  PlanOptions options{.max_memory_bytes = std::int64_t{4} << 30, .threads = 16};
  options.choose_device = true;
  options.max_device_memory_bytes = std::int64_t{64} << 30;
  options.machine.host.fma_seconds = 40e-12;
  return options;
}

Plan make_plan(const ImageSpec& spec, const char* stage, const SourceLayout& from, const SinkLayout& to,
               const PlanOptions& options = on_h200()) {
  return plan(test::NullReader(spec, from), test::NullWriter(spec, to), Chain::parse({stage}), options);
}

std::string last_note(const std::vector<std::string>& notes) {
  REQUIRE_FALSE(notes.empty());
  return notes.back();
}

struct NoContext {
  NoContext() { simulated::context_created = false; }
  ~NoContext() { simulated::context_created = true; }
};

}  // namespace

TEST_CASE("jobs that were measured on an H200 go where they were done first") {
  const SourceLayout rows{};
  const SinkLayout to_rows{};
  const ImageSpec large{{32768, 32768}, 1, PixelType::f32};
  {
    const NoContext no_context;
    const Plan cpu = make_plan(large, "gaussian:sigma=3,radius=8", rows, to_rows);
    CHECK(cpu.devices.empty());
    CHECK_THAT(last_note(cpu.notes), Contains("s of them to read or write, and a GPU's start takes 0.34 s") &&
                                         Contains(": the CPU computes"));
    CHECK_FALSE(simulated::context_created);  // the unused GPU was not initialised
  }
  {
    const NoContext no_context;
    CHECK(make_plan({{20000, 20000}, 1, PixelType::u8}, "gaussian:sigma=3,radius=8",
                    {.block = {512, 512}, .codec = "deflate"}, {.block = {512, 512}, .partial_blocks = true})
              .devices.empty());
  }
  for (const auto& [spec, stage] :
       {std::pair{large, "gaussian:sigma=27,radius=80"},
        {ImageSpec{{16384, 16384}, 1, PixelType::f32}, "gaussian:sigma=85,radius=256"}}) {
    // Measured before devices shared bands: the GPU was first.
    const NoContext no_context;
    const Plan shared = make_plan(spec, stage, rows, to_rows);
    CHECK(shared.devices == std::vector<int>{0});
    CHECK(shared.with_cpu);
    CHECK(shared.predicted.start > 0.34);
    CHECK(shared.asked.choose_device);
    CHECK_THAT(last_note(shared.notes), Contains("s for cpu+cuda:0: they share the bands"));
    CHECK_FALSE(simulated::context_created);  // created when the CPU computes
  }
}

TEST_CASE("bands are shared where that is predicted to gain a tenth of the better device's time") {
  const ImageSpec spec{{16384, 16384}, 1, PixelType::f32};
  const char* const stage = "gaussian:sigma=85,radius=256";
  PlanOptions chosen = on_h200();
  chosen.machine.device.fma_seconds *= 40;  // about as fast as the CPU
  PlanOptions options = chosen;
  options.choose_device = false;
  const double cpu_seconds = make_plan(spec, stage, {}, {}, options).predicted.total;
  options.devices = {0};
  const Plan gpu = make_plan(spec, stage, {}, {}, options);
  CHECK_FALSE(gpu.with_cpu);
  const Plan shared = make_plan(spec, stage, {}, {}, chosen);
  CHECK(shared.with_cpu);
  CHECK(shared.predicted.total < 0.9 * std::min(cpu_seconds, gpu.predicted.total));
  CHECK(shared.memory.total() <= shared.max_memory_bytes);
  CHECK(shared.arena_bytes > 0);
  CHECK(shared.device_memory.total() > 0);
  CHECK_THAT(devices_text(shared.devices, shared.with_cpu), Contains("cpu+cuda:0"));

  PlanOptions slow = on_h200();
  slow.machine.host.fma_seconds *= 100;
  const Plan alone = make_plan(spec, stage, {}, {}, slow);
  CHECK(alone.devices == std::vector<int>{0});
  CHECK_FALSE(alone.with_cpu);
  CHECK_THAT(last_note(alone.notes), Contains("s for cpu+cuda:0") && Contains(": the GPU computes"));
}

TEST_CASE("bands that cannot be shared are one device's, and the plan says why") {
  const ImageSpec spec{{16384, 16384}, 1, PixelType::f32};
  const char* const stage = "gaussian:sigma=85,radius=256";
  const SinkLayout appended{.block = {512, 512}, .codec = "zstd", .is_append_only = true};
  const Plan chosen = make_plan(spec, stage, {}, appended);
  CHECK_FALSE(chosen.with_cpu);
  CHECK_THAT(last_note(chosen.notes),
             Contains("cannot share the bands, because the order of the blocks in the file would differ"));
  PlanOptions named = on_h200();
  named.choose_device = false;
  named.devices = {0};
  named.with_cpu = true;
  CHECK(make_plan(spec, stage, {}, appended, named).with_cpu);
  for (const auto& [from, to] : {std::pair{SourceLayout{.access = Access::sequential}, SinkLayout{}},
                                 {SourceLayout{}, SinkLayout{.access = Access::sequential}}}) {
    const Plan plan = make_plan(spec, stage, from, to, named);
    CHECK(plan.devices == std::vector<int>{0});
    CHECK_FALSE(plan.with_cpu);
    CHECK(std::ranges::count(plan.notes,
                             "the CPU computes no bands, because the source or the sink goes row "
                             "by row") == 1);
  }
}

TEST_CASE("a plan of the CPU and a named GPU creates no context") {
  const NoContext no_context;
  PlanOptions options = on_h200();
  options.choose_device = false;
  options.devices = {0, 1};
  options.with_cpu = true;
  const Plan plan = make_plan({{1000, 1000}, 1, PixelType::u8}, "gaussian:sigma=2", {}, {}, options);
  CHECK(plan.with_cpu);
  CHECK(plan.lanes() == std::vector<std::optional<int>>{std::nullopt, 0, 1});
  CHECK(plan.asked.max_device_memory_bytes == options.max_device_memory_bytes);
  CHECK_FALSE(simulated::context_created);
}

TEST_CASE("a job that takes as long as its files asks for no GPU") {
  const NoContext no_context;
  const Plan plan = make_plan({{24576, 24576}, 1, PixelType::f32}, "gaussian:sigma=2.67", {}, {});
  CHECK(plan.devices.empty());
  CHECK(plan.predicted.total > 0.34);
  CHECK_THAT(last_note(plan.notes), Contains("s of them to read or write, and a GPU's start takes 0.34 s"));
}

TEST_CASE("a job that is done before a GPU has started asks for none") {
  const NoContext no_context;
  const Plan small = make_plan({{1000, 1000}, 1, PixelType::u8}, "abs", {}, {});
  CHECK(small.devices.empty());
  CHECK_THAT(last_note(small.notes), Contains("and a GPU's start takes 0.34 s: the CPU computes"));
}

TEST_CASE("a process that uses the GPU already does not count its start") {
  const ImageSpec spec{{4096, 4096}, 1, PixelType::f32};
  const SourceLayout memory{.codec = kInMemory};
  const SinkLayout to_memory{.codec = kInMemory};
  PlanOptions slow = on_h200();
  slow.threads = 2;
  slow.machine.host.contention = 0;
  const Plan gpu_plan = make_plan(spec, "gaussian:sigma=27,radius=80", memory, to_memory, slow);
  CHECK(gpu_plan.devices == std::vector<int>{0});
  CHECK(gpu_plan.predicted.start < 0.1);
  const NoContext no_context;
  CHECK(make_plan(spec, "gaussian:sigma=27,radius=80", memory, to_memory, slow).devices.empty());
}

TEST_CASE("medians are predicted for a GPU about as they were measured on an H100") {
  // docs/measurements/2026-11-25-gpu-codecs-and-ranks.md: by sorting networks and by bisection.
  struct Row {
    int radius;
    PixelType type;
    double pixels_per_second;
  };
  for (const Row& row : {Row{3, PixelType::u8, 8237e6},
                         {5, PixelType::u16, 1840e6},
                         {5, PixelType::f32, 1740e6},
                         {7, PixelType::u8, 659e6},
                         {15, PixelType::u8, 166e6},
                         {30, PixelType::u8, 47e6},
                         {15, PixelType::u16, 88e6},
                         {30, PixelType::u16, 25e6},
                         {15, PixelType::f32, 48e6},
                         {30, PixelType::f32, 14e6}}) {
    CAPTURE(row.radius, name_of(row.type));
    PlanOptions options = on_h200();
    options.choose_device = false;
    options.devices = {0};
    options.machine.device.fma_seconds = 1 / 30e12;
    const ImageSpec spec{{8192, 8192}, 1, row.type};
    const std::string stage = "median:radius=" + std::to_string(row.radius);
    const double compute = make_plan(spec, stage.c_str(), {}, {}, options).predicted.compute;
    const double measured = static_cast<double>(spec.extent.area()) / row.pixels_per_second;
    CHECK(compute > measured / 1.5);
    CHECK(compute < measured * 1.5);
  }
}

TEST_CASE("what no GPU can do, or none has room for, is the CPU's, and is said") {
  PlanOptions options = on_h200();
  options.max_device_memory_bytes = 1;
  const Plan cpu_plan =
      make_plan({{16384, 16384}, 1, PixelType::f32}, "gaussian:sigma=85,radius=256", {}, {}, options);
  CHECK(cpu_plan.devices.empty());
  CHECK(last_note(cpu_plan.notes) == "no plan for a GPU fits into memory: the CPU computes");
  options.devices = {0};
  CHECK_THROWS_WITH(make_plan({{10, 10}, 1, PixelType::u8}, "abs", {}, {}, options),
                    Contains("leave out one of the two"));
}

TEST_CASE("GPUs that are not there are refused by the option's name") {
  const NoContext no_context;
  PlanOptions options = on_h200();
  options.choose_device = false;
  options.devices = {7};
  CHECK_THROWS_WITH(make_plan({{10, 10}, 1, PixelType::u8}, "abs", {}, {}, options),
                    Contains("PlanOptions::devices cuda:7: there are only 2 GPUs"));
}

TEST_CASE("wherever a run is done, its bits are the same") {
  const ImageSpec spec{{300, 401}, 1, PixelType::f32};
  const test::Image source = test::Image::of_pattern(spec, Pattern::noise, 5);
  const Chain chain = Chain::parse({"gaussian:sigma=3", "sobel"});
  const auto run_with_rate = [&](double fma_seconds, const std::vector<int>& expected) {
    const test::Image result(spec);
    std::optional<NoContext> no_context;
    if (expected.empty()) no_context.emplace();
    RunOptions options{on_h200()};
    options.machine.host.fma_seconds = fma_seconds;
    const auto reader = make_memory_reader(source.view());
    const auto writer = make_memory_writer(result.view());
    const RunReport report = run(*reader, *writer, chain, options);
    CHECK(report.plan.devices == expected);
    return std::vector<std::byte>(result.view().data, result.view().data + spec.bytes());
  };
  CHECK(run_with_rate(1e-3, {0}) == run_with_rate(1e-15, {}));
}

TEST_CASE("a product goes where it is predicted to be done first") {
  const ImageSpec square{{2000, 2000}, 1, PixelType::f64};
  const test::NullReader a(square, {});
  const test::NullWriter out(square, {});
  const auto plan_with_rate = [&](double fma_rate) {
    PlanOptions options = on_h200();
    options.machine.products.host_fma_f64_rate = fma_rate;
    return plan_gemm({}, a, a, nullptr, out, options);
  };
  const GemmPlan slow = plan_with_rate(1e6);
  CHECK(slow.devices == std::vector<int>{0});
  CHECK_THAT(last_note(slow.notes), Contains(": the GPU computes"));
  const NoContext no_context;
  const GemmPlan fast = plan_with_rate(1e15);
  CHECK(fast.devices.empty());
  CHECK_THAT(last_note(fast.notes), Contains(": the CPU computes"));
  CHECK_THAT(describe(slow), Contains("predicted  " + to_string(slow.predicted)));
}
