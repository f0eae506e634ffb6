// The CPU and GPUs that share the bands of a run: same pixels whatever fails, what the report says, memory.
#include <atomic>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "../support/fault_injection.hpp"
#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "../support/small_run.hpp"
#include "../support/threads.hpp"
#include "core/error.hpp"
#include "pipeline/job/option_values.hpp"
#include "pipeline/report/report.hpp"
#include "pipeline/run/chrome_trace.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;
using Catch::Contains;

namespace {

constexpr std::int64_t kBands = 13;  // of small_bands()

/// The CPU and one or all GPUs.
std::vector<std::vector<int>> device_sets() {
  std::vector<std::vector<int>> sets{{kCpu, 0}};
  if (list_devices().size() > 1) sets.push_back({kCpu, 0, 1});
  return sets;
}

Image expected_of(const Image& source) {
  Image expected(kSpec);
  run_whole_image(*source.reader(), *expected.writer(), two_stages());
  return expected;
}

/// two_stages(), with hooks before the first on the CPU and on a GPU.
Chain hooked(const Hook& on_cpu, const Hook& on_gpu) {
  Chain chain;
  chain.then(std::make_shared<HookedStage>(parse_stage("gaussian:sigma=2"), on_cpu, on_gpu));
  return chain.then(parse_stage("unsharp:sigma=1"));
}

/// The plan as if the devices had been chosen by the planner, so that a GPU may fail.
Plan chosen(Plan plan) {
  REQUIRE(plan.with_cpu);
  plan.asked.choose_device = true;
  return plan;
}

std::int64_t bands_of(const RunReport& report) {
  return std::accumulate(report.lanes.begin(), report.lanes.end(), std::int64_t{0},
                         [](std::int64_t sum, const LaneReport& lane) { return sum + lane.bands; });
}

std::int64_t pixels_of(const RunReport& report) {
  return std::accumulate(report.lanes.begin(), report.lanes.end(), std::int64_t{0},
                         [](std::int64_t sum, const LaneReport& lane) { return sum + lane.pixels; });
}

/// The number of threads, with those that CUDA keeps.
std::int64_t threads_after_a_run(const Image& source) {
  run(*source.reader(), *Image(kSpec).writer(), Chain::parse({"abs"}), small_bands(3, {0}));
  return baseline_thread_count();
}

const Hook kNoHook = [](std::int64_t) {};

/// Lets threads wait until a number of bands is written.
class WrittenBands {
 public:
  void add(const Plan&, std::int64_t) {
    {
      const std::scoped_lock lock(mutex_);
      ++count_;
    }
    changed_.notify_all();
  }
  void wait_for(std::int64_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return count_ >= count; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t count_ = 0;
};

/// Device memory whose first allocation waits for written bands, as for a context that is made slowly.
class LateMemory final : public std::pmr::memory_resource {
 public:
  LateMemory(WrittenBands& written, std::int64_t bands) : written_(written), bands_(bands) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    written_.wait_for(bands_);
    return device_resource()->allocate(bytes, alignment);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    device_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  WrittenBands& written_;
  std::int64_t bands_;
};

}  // namespace

TEST_CASE("lanes of any speed give the same pixels, and the report has each lane's", "[gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 1);
  const Image expected = expected_of(source);
  std::uint64_t seed = 0;
  for (const std::vector<int>& devices : device_sets()) {
    for (const int slots : {1, 2, 3, 5}) {
      for (const auto& [cpu_us, gpu_us] : {std::pair{0, 0}, {2000, 0}, {0, 2000}, {500, 500}}) {
        CAPTURE(slots, cpu_us, gpu_us, devices.size());
        seed += 2;
        const Image result(kSpec);
        const Chain chain = hooked(random_delay(seed, cpu_us), random_delay(seed + 1, gpu_us));
        const RunReport report = run(*source.reader(), *result.writer(), chain, small_bands(slots, devices));
        CHECK(result == expected);
        CHECK(devices_of(report.plan) == devices);
        REQUIRE(report.lanes.size() == devices.size());
        CHECK(report.lanes[0].device == "cpu");
        CHECK(report.lanes[1].device == "cuda:0");
        CHECK(bands_of(report) == kBands);
        CHECK(pixels_of(report) == kSpec.extent.area());
        CHECK(report.plan.warnings.empty());
      }
    }
  }
}

TEST_CASE("each lane has its tracks, in the report, the JSON and the trace", "[gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 2);
  const Image result(kSpec);
  WrittenBands written;
  LateMemory late(written, 1);
  RunOptions options = small_bands(3, {kCpu, 0});
  options.device_memory = &late;
  options.written = [&](const Plan& plan, std::int64_t band) { written.add(plan, band); };
  const RunReport report = run(*source.reader(), *result.writer(), two_stages(), options);
  std::vector<std::string> names;
  for (const StepReport& step : report.steps) names.push_back(step.name);
  CHECK(names == std::vector<std::string>{"read", "upload cuda:0", "compute cpu", "compute cuda:0",
                                          "download cuda:0", "write"});
  CHECK_THAT(report.device, Contains("CPU, 2 threads") && Contains(" and cuda:0 "));
  CHECK_THAT(summary(report, {}), Contains("  cpu: ") && Contains("  cuda:0: "));
  CHECK_THAT(describe(report.plan, *source.reader(), *result.writer()), Contains("cpu+cuda:0"));
  const auto json = nlohmann::json::parse(to_json(report, {}));
  REQUIRE(json.at("lanes").size() == 2);
  CHECK(json.at("lanes")[0].at("device") == "cpu");
  CHECK(json.at("lanes")[0].at("bands").get<std::int64_t>() >= 1);
  CHECK(json.at("lanes")[0].at("failure").is_null());
  CHECK(json.at("plan").at("cuda").at("device") == "cpu+cuda:0");
  std::ostringstream trace;
  write_chrome_trace(trace, report.timeline, {});
  CHECK_THAT(trace.str(), Contains("compute cpu"));
}

TEST_CASE("a GPU that is late computes what the CPU has left", "[gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 3);
  const Image expected = expected_of(source);
  for (const std::int64_t bands : {std::int64_t{1}, std::int64_t{6}, kBands}) {
    WrittenBands written;
    LateMemory late(written, bands);
    RunOptions options = small_bands(3, {kCpu, 0});
    options.device_memory = &late;
    options.written = [&](const Plan& plan, std::int64_t band) { written.add(plan, band); };
    const Image result(kSpec);
    const RunReport report = run(*source.reader(), *result.writer(), two_stages(), options);
    CHECK(result == expected);
    CHECK(report.lanes[0].bands >= bands);
    CHECK(bands_of(report) == kBands);
  }
}

TEST_CASE("a chosen GPU that fails at any band leaves the rest to the others, and a warning",
          "[gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 4);
  const Image expected = expected_of(source);
  for (const std::vector<int>& devices : device_sets()) {
    for (const int slots : {1, 3}) {
      for (std::int64_t n = 0; n < 4; ++n) {
        CAPTURE(slots, n, devices.size());
        std::atomic<int> failures = 0;
        const Hook fails = [&, n](std::int64_t call) {
          if (call == n) ++failures, throw DeviceError("the GPU is lost");
        };
        const Image result(kSpec);
        const auto reader = source.reader();
        const auto writer = result.writer();
        const Chain chain = hooked(random_delay(5, 200), fails);
        const Plan planned = chosen(plan(*reader, *writer, chain, small_bands(slots, devices)));
        const RunReport report = run(*reader, *writer, planned);
        CHECK(result == expected);
        CHECK(bands_of(report) == kBands);
        CHECK(std::ssize(report.plan.warnings) == failures);
        for (const std::string& warning : report.plan.warnings)
          CHECK_THAT(warning, Contains("cuda:") && Contains("failed after") && Contains("the GPU is lost"));
      }
    }
  }
}

TEST_CASE("a named GPU that fails together with the CPU is one error", "[gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 5);
  const std::int64_t threads_before = threads_after_a_run(source);
  std::atomic<bool> has_failed = false;
  const Hook fails = [&](std::int64_t) {
    has_failed = true;
    throw DeviceError("the GPU is lost");
  };
  // One thread of the CPU waits for the failure; the other reads for the GPU.
  const Hook waits = [&](std::int64_t call) {
    while (call == 0 && !has_failed) std::this_thread::yield();
  };
  CHECK_THROWS_WITH(
      run(*source.reader(), *Image(kSpec).writer(), hooked(waits, fails), small_bands(3, {kCpu, 0})),
      Contains("the GPU is lost"));
  CHECK(wait_for_thread_count(threads_before));
}

TEST_CASE("a chosen GPU without memory at any allocation leaves all bands to the CPU", "[gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 6);
  const Image expected = expected_of(source);
  for (const bool on_device : {false, true}) {
    std::pmr::memory_resource* const upstream = on_device ? device_resource() : pinned_resource();
    for (std::int64_t n = 0; n < 12; ++n) {
      FailingMemory memory(n, upstream);
      RunOptions options = small_bands(3, {kCpu, 0});
      (on_device ? options.device_memory : options.pinned_memory) = &memory;
      const Image result(kSpec);
      const auto reader = source.reader();
      const auto writer = result.writer();
      const Plan planned = chosen(plan(*reader, *writer, two_stages(), options));
      const RunReport report = run(*reader, *writer, planned, options);
      CHECK(result == expected);
      CHECK(bands_of(report) == kBands);
      CHECK(memory.allocated_bytes() == 0);
      if (memory.allocations() <= n) continue;  // none has failed
      CHECK(report.lanes[0].bands == kBands);
      CHECK_FALSE(report.lanes[1].failure.empty());
      REQUIRE(report.plan.warnings.size() == 1);
      CHECK_THAT(report.plan.warnings[0], Contains("cuda:0 failed after 0 of its bands"));
    }
  }
}

TEST_CASE("with several lanes any failure of reading, writing or the CPU ends the run once", "[gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 7);
  const std::int64_t threads_before = threads_after_a_run(source);
  for (std::int64_t n = 0; n < 12; n += 3) {
    for (int where = 0; where < 3; ++where) {
      INFO("call " << n << " of " << where);
      const Image result(kSpec);
      const auto memory_reader = source.reader();
      const auto memory_writer = result.writer();
      HookedReader reader(*memory_reader, where == 0 ? fail_at(n) : kNoHook);
      HookedWriter writer(*memory_writer, where == 1 ? fail_at(n) : kNoHook);
      std::atomic<bool> cpu_computes = where != 2;
      const Hook on_cpu = [&](std::int64_t) {
        if (where != 2) return;
        cpu_computes = true;
        throw InjectedError("planted");
      };
      const Hook on_gpu = [&](std::int64_t) {
        while (!cpu_computes) std::this_thread::yield();
      };
      const Chain chain = hooked(on_cpu, on_gpu);
      FailingMemory pinned(-1, pinned_resource()), memory(-1, device_resource());
      RunOptions options = small_bands(3, {kCpu, 0});
      options.pinned_memory = &pinned;
      options.device_memory = &memory;
      const Plan planned = chosen(plan(reader, writer, chain, options));
      CHECK_THROWS_AS(run(reader, writer, planned, options), InjectedError);
      CHECK(pinned.allocated_bytes() == 0);
      CHECK(memory.allocated_bytes() == 0);
    }
  }
  CHECK(wait_for_thread_count(threads_before));
}

TEST_CASE("the ceiling for the host holds for all lanes together", "[gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  const ImageSpec spec{{3000, 1000}, 1, PixelType::f32};
  const Image source = Image::of_pattern(spec, Pattern::noise, 8);
  const Image expected(spec);
  run_whole_image(*source.reader(), *expected.writer(), two_stages());
  for (const std::int64_t ceiling : {6'000'000, 12'000'000, 100'000'000}) {
    FailingMemory host, pinned(-1, pinned_resource()), memory(-1, device_resource());
    RunOptions options;
    use_devices(options, {kCpu, 0});
    options.threads = 2;
    options.max_memory_bytes = ceiling;
    options.max_device_memory_bytes = 2 * ceiling;
    options.memory = &host;
    options.pinned_memory = &pinned;
    options.device_memory = &memory;
    const Image result(spec);
    const RunReport report = run(*source.reader(), *result.writer(), two_stages(), options);
    CHECK(result == expected);
    CHECK(report.plan.with_cpu);
    CHECK(host.peak_bytes() + pinned.peak_bytes() <= report.plan.memory.slots + report.plan.memory.scratch);
    CHECK(report.plan.memory.total() <= ceiling);
    CHECK(memory.peak_bytes() <= report.plan.device_memory.total());
    CHECK(report.plan.device_memory.total() <= 2 * ceiling);
  }
}

TEST_CASE("what cannot be shared is computed on the GPUs, and the plan says why", "[gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 9);
  const auto note_of = [&](const char* stage) {
    const Chain chain = Chain::parse({stage});
    const Image result(chain.result_spec(kSpec));
    const Plan planned = plan(*source.reader(), *result.writer(), chain, small_bands(3, {kCpu, 0}));
    CHECK(devices_of(planned) == std::vector<int>{0});
    return planned.why_not_shared;
  };
  CHECK(note_of("transpose") == "the result is transposed");
}

TEST_CASE("devices are named by one text, and text of them reads back", "[lanes]") {
  const auto named = [](const char* text) {
    const NamedDevices devices = parse_devices(text);
    return std::pair(devices.devices, devices.with_cpu);
  };
  CHECK(named("cpu") == std::pair(std::vector<int>{}, false));
  CHECK(named("cuda") == std::pair(std::vector{0}, false));
  CHECK(named("cpu+cuda") == std::pair(std::vector{0}, true));
  for (const char* const text : {"cpu", "cuda:0", "cuda:2,0", "cpu+cuda:0", "cpu+cuda:1,0"}) {
    const NamedDevices devices = parse_devices(text);
    CHECK(devices_text(devices.devices, devices.with_cpu) == text);
  }
  for (const char* const text : {"", "cpu+", "cpu+cpu", "cpu+cuda:", "cuda:0+cpu", "cuda:0,0", "CPU+cuda:0"})
    CHECK_THROWS_AS(parse_devices(text), InvalidArgument);
}
