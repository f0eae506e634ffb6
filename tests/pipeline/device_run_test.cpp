// Guarantees of run() on a GPU besides equal bits (property_test.cpp): each byte crosses the bus once, memory
// ceilings, one error, no leaks, no repeated allocation.
#include <catch2/catch.hpp>
#include <limits>
#include <stdexcept>
#include <thread>

#include "../support/fault_injection.hpp"
#include "../support/gpu.hpp"
#include "../support/image.hpp"
#include "../support/small_run.hpp"
#include "../support/threads.hpp"
#include "core/error.hpp"
#include "io/memory_image.hpp"
#include "io/rows.hpp"
#include "kernels/device/buffer_pool.hpp"
#include "kernels/pointwise/missing.hpp"
#include "pipeline/run/run.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

RunOptions device_bands(int slots = 3) { return small_bands(slots, {0}); }

Image expected_of(const Image& source) {
  Image expected(kSpec);
  run_whole_image(*source.reader(), *expected.writer(), two_stages());
  return expected;
}

std::int64_t bytes_of(const RunReport& report, const std::string& step) {
  for (const StepReport& s : report.steps) {
    if (s.name == step) return s.bytes;
  }
  return -1;
}

}  // namespace

TEST_CASE("every byte of the source goes up once, every byte of the result comes down once", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 1);
  const Image expected = expected_of(source);
  for (const int slots : {1, 2, 3, 5}) {
    const Image result(kSpec);
    const RunReport report = run(*source.reader(), *result.writer(), two_stages(), device_bands(slots));
    CHECK(result == expected);
    CHECK(report.plan.band_count() == 13);
    CHECK(bytes_of(report, "read") == kSpec.bytes());
    CHECK(bytes_of(report, "upload") == kSpec.bytes());
    CHECK(bytes_of(report, "download") == kSpec.bytes());
    CHECK(bytes_of(report, "write") == kSpec.bytes());
  }
}

namespace {

/// The warnings of a run of `chain` on `pixels`.
std::vector<std::string> warnings_of(const PixelView& pixels, HostMemory memory, const Chain& chain,
                                     std::optional<double> missing, const std::vector<int>& devices) {
  RunOptions options = small_bands(3, devices);
  options.missing.value = missing;
  const ImageSpec spec{pixels.extent, pixels.channels, pixels.type};
  const Image result(spec);
  const auto reader = make_memory_reader(pixels, memory);
  return run(*reader, *result.writer(), chain, options).plan.warnings;
}

}  // namespace

TEST_CASE("NaN that a filter spreads is said, wherever a GPU has the source from, in the CPU's words",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(PixelType::f32, PixelType::f64);
  const auto memory = GENERATE(HostMemory::pageable, HostMemory::page_locked);
  const ImageSpec spec{{60, 1040}, 1, type};
  const Image pattern = Image::of_pattern(spec, Pattern::noise, 1);
  const Buffer locked_memory(spec.bytes(), pinned_resource());
  const PixelView source = dense_view(locked_memory.data(), spec);
  copy_pixels(pattern.view(), source);
  CHECK(warnings_of(source, memory, two_stages(), {}, {0}).empty());
  for (const auto& [row, col] : {std::pair{0, 0}, std::pair{33, 1039}, std::pair{59, 517}}) {
    copy_pixels(pattern.view(), source);
    fill_pixels(source.crop({row, col, 1, 1}), std::numeric_limits<double>::quiet_NaN());
    for (const std::optional<double> missing : {std::optional<double>{}, std::optional<double>{-1}}) {
      CAPTURE(row, col, missing.has_value());
      const auto cpu_warnings = warnings_of(source, HostMemory::pageable, two_stages(), missing, {});
      CHECK(warnings_of(source, memory, two_stages(), missing, {0}) == cpu_warnings);
      CHECK(cpu_warnings.size() == 1);
    }
    CHECK(warnings_of(source, memory, Chain::parse({"abs"}), {}, {0}).empty());
  }
}

TEST_CASE("page-locked images are copied from and to without slots on the host", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image pattern = Image::of_pattern(kSpec, Pattern::noise, 2);
  const Image expected = expected_of(pattern);
  const Buffer in(kSpec.bytes(), pinned_resource());
  const Buffer out(kSpec.bytes(), pinned_resource());
  const PixelView source = dense_view(in.data(), kSpec);
  const PixelView result = dense_view(out.data(), kSpec);
  copy_pixels(pattern.view(), source);
  for (const int slots : {1, 2, 3}) {
    FailingMemory pinned(-1, pinned_resource());
    RunOptions options = device_bands(slots);
    options.pinned_memory = &pinned;
    const auto reader = make_memory_reader(source, HostMemory::page_locked);
    const auto writer = make_memory_writer(result, HostMemory::page_locked);
    const RunReport report = run(*reader, *writer, two_stages(), options);
    const Image copy(kSpec);
    copy_pixels(result, copy.view());
    CHECK(copy == expected);
    CHECK(pinned.peak_bytes() == 0);
    CHECK(report.plan.memory.slots == 0);
    CHECK(bytes_of(report, "upload") == kSpec.bytes());
  }
}

TEST_CASE("rows from callbacks pass through a GPU in order", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 3);
  const Image result(kSpec);
  std::int64_t next_read = 0, next_write = 0;
  int out_of_order = 0;
  const auto reader = make_rows_reader(kSpec, [&](std::int64_t first_row, const PixelView& out) {
    if (first_row != next_read) throw std::logic_error("rows are asked for out of order");
    next_read += out.extent.rows;
    copy_pixels(source.view().crop({first_row, 0, out.extent.rows, out.extent.cols}), out);
  });
  const auto writer = make_rows_writer(kSpec, [&](std::int64_t first_row, const ConstPixelView& rows) {
    out_of_order += first_row != next_write;
    next_write += rows.extent.rows;
    copy_pixels(rows, result.view().crop({first_row, 0, rows.extent.rows, rows.extent.cols}));
  });
  run(*reader, *writer, two_stages(), device_bands());
  CHECK(out_of_order == 0);
  CHECK(next_read == 200);
  CHECK(result == expected_of(source));
}

TEST_CASE("the ceilings for host and device memory hold", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const ImageSpec spec{{3000, 1000}, 1, PixelType::f32};
  const Image source = Image::of_pattern(spec, Pattern::noise, 4);
  const Image expected(spec);
  run_whole_image(*source.reader(), *expected.writer(), two_stages());
  for (const std::int64_t ceiling : {2'000'000, 4'000'000, 50'000'000}) {
    FailingMemory pinned(-1, pinned_resource()), memory(-1, device_resource());
    RunOptions options;
    options.devices = {0};
    options.threads = 1;
    options.max_memory_bytes = ceiling;
    options.max_device_memory_bytes = 2 * ceiling;
    options.pinned_memory = &pinned;
    options.device_memory = &memory;
    const Image result(spec);
    const RunReport report = run(*source.reader(), *result.writer(), two_stages(), options);
    CHECK(result == expected);
    CHECK(pinned.peak_bytes() == report.plan.memory.slots + report.plan.memory.scratch);
    CHECK(pinned.peak_bytes() <= ceiling);
    CHECK(memory.peak_bytes() == report.plan.device_memory.total());
    CHECK(memory.peak_bytes() <= 2 * ceiling);
  }
}

TEST_CASE("a failure at any call of a run on a GPU surfaces once and leaves nothing", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 7);
  run(*source.reader(), *Image(kSpec).writer(), two_stages(),
      device_bands());  // CUDA's persistent allocations exist now
  const std::int64_t threads_before = baseline_thread_count();
  const Hook no_op = [](std::int64_t) {};
  for (const int slots : {1, 2, 3}) {
    for (std::int64_t n = 0; n < 13; ++n) {
      for (int where = 0; where < 3; ++where) {
        const Image result(kSpec);
        const auto memory_reader = source.reader();
        const auto memory_writer = result.writer();
        HookedReader reader(*memory_reader, where == 0 ? fail_at(n) : no_op);
        HookedWriter writer(*memory_writer, where == 1 ? fail_at(n) : no_op);
        Chain chain;
        chain.then(
            std::make_shared<HookedStage>(parse_stage("box:radius=3"), where == 2 ? fail_at(n) : no_op));
        FailingMemory pinned(-1, pinned_resource()), memory(-1, device_resource());
        RunOptions options = device_bands(slots);
        options.pinned_memory = &pinned;
        options.device_memory = &memory;
        INFO("slots " << slots << ", call " << n << " of " << where);
        CHECK_THROWS_AS(run(reader, writer, chain, options), InjectedError);
        CHECK(pinned.allocated_bytes() == 0);
        CHECK(memory.allocated_bytes() == 0);
      }
    }
  }
  CHECK(wait_for_thread_count(threads_before));
}

TEST_CASE("an allocation that fails leads to a smaller plan on a GPU, or to one error", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const Image source = Image::of_pattern(kSpec, Pattern::noise, 8);
  const Image expected = expected_of(source);
  RunOptions options;
  options.devices = {0};
  options.slots = 3;
  for (const bool on_device : {false, true}) {
    std::pmr::memory_resource* const upstream = on_device ? device_resource() : pinned_resource();
    auto*& resource = on_device ? options.device_memory : options.pinned_memory;
    FailingMemory counting(-1, upstream);
    resource = &counting;
    run(*source.reader(), *Image(kSpec).writer(), two_stages(), options);
    REQUIRE(counting.allocations() >= 6);
    for (std::int64_t n = 0; n < counting.allocations(); ++n) {
      FailingMemory memory(n, upstream);
      resource = &memory;
      const Image result(kSpec);
      run(*source.reader(), *result.writer(), two_stages(), options);
      CHECK(result == expected);
      CHECK(memory.allocated_bytes() == 0);
    }
    resource = std::pmr::null_memory_resource();
    const Image result(kSpec);
    CHECK_THROWS_AS(run(*source.reader(), *result.writer(), two_stages(), options), OutOfMemory);
    resource = nullptr;
  }
}

TEST_CASE("with pools nothing is allocated or page-locked after the first of several images", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  FailingMemory pinned(-1, pinned_resource()), memory(-1, device_resource());
  {
    BufferPool pinned_pool(&pinned), memory_pool(&memory);
    RunOptions options = device_bands();
    options.pinned_memory = &pinned_pool;
    options.device_memory = &memory_pool;
    std::int64_t after_first = 0;
    for (std::uint64_t image = 0; image < 20; ++image) {
      const Image source = Image::of_pattern(kSpec, Pattern::noise, image);
      const Image result(kSpec);
      run(*source.reader(), *result.writer(), two_stages(), options);
      CHECK(result == expected_of(source));
      if (image == 0) after_first = pinned.allocations() + memory.allocations();
      CHECK(pinned.allocations() + memory.allocations() == after_first);
    }
    CHECK(memory.allocated_bytes() > 0);
  }
  CHECK(pinned.allocated_bytes() == 0);
  CHECK(memory.allocated_bytes() == 0);
}

TEST_CASE("a pool keeps memory of several GPUs apart, whatever lies between it and CUDA", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  if (list_devices().size() < 2) {
    WARN("skipped: only one GPU");
    return;
  }
  FailingMemory counting_memory(-1, device_resource());
  BufferPool pool(&counting_memory);
  const auto allocate_and_free = [&](int device) {
    const DeviceScope scope(device);
    return static_cast<const void*>(Buffer(1000, &pool).data());
  };
  const void* const first = allocate_and_free(0);
  CHECK(allocate_and_free(1) != first);
  CHECK(allocate_and_free(0) == first);
}

TEST_CASE("runs on one GPU at once do not disturb each other", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  std::vector<int> is_equal(6, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t seed = 0; seed < is_equal.size(); ++seed) {
      threads.emplace_back([&is_equal, seed] {
        const Image source = Image::of_pattern(kSpec, Pattern::noise, seed);
        const Chain chain =
            Chain::parse(std::vector<std::string>{"gaussian:sigma=" + std::to_string(1 + seed)});
        const Image expected(kSpec);
        const Image result(kSpec);
        run_whole_image(*source.reader(), *expected.writer(), chain);
        run(*source.reader(), *result.writer(), chain, device_bands());
        is_equal[seed] = result == expected;
      });
    }
  }
  for (const int same : is_equal) CHECK(same == 1);
}

TEST_CASE("a stage without a GPU version is refused before anything is read", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const ImageSpec many{{4, 4}, 100, PixelType::u8};
  std::string values = "1";
  for (int i = 1; i < 100 * 100; ++i) values += ",1";
  const Chain chain = Chain::parse(std::vector<std::string>{"mix_channels:rows=100,values=" + values});
  const Image source(many);
  const Image result(many);
  const auto memory_reader = source.reader();
  int reads = 0;
  HookedReader reader(*memory_reader, [&](std::int64_t) { ++reads; });
  CHECK_THROWS_AS(run(reader, *result.writer(), chain, device_bands()), InvalidArgument);
  CHECK(reads == 0);
}
