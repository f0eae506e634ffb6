// Streaming gives the bytes of the whole image, for any bands, slots, threads and timing.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string>

#include "../support/gpu.hpp"
#include "../support/small_run.hpp"
#include "property_case.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

// Sanitizers run fewer cases: each exercises the same code and takes two to four times as long.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kCaseDivisor = 4;
#elif defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kCaseDivisor = 2;
#else
constexpr std::uint64_t kCaseDivisor = 1;
#endif

#ifdef SEPCONV_SIMULATED_GPU
constexpr std::uint64_t kDeviceCases = 60 / kCaseDivisor;  // its streams are threads with deliberate delays
constexpr std::uint64_t kManyDeviceCases = 240 / kCaseDivisor;
#else
constexpr std::uint64_t kDeviceCases = 400 / kCaseDivisor;
constexpr std::uint64_t kManyDeviceCases = 3000 / kCaseDivisor;
#endif

void check_cases(std::uint64_t seed, std::uint64_t count, const std::vector<int>& devices = {}) {
  for (std::uint64_t index = 0; index < count; ++index) {
    std::mt19937_64 random(seed * 1000003 + index);
    const PropertyCase c = random_case(random);
    INFO("seed " << seed << ", case " << index << "\n" << command_line(c));
    const bool is_equal = holds(c, devices);
    if (!is_equal)
      FAIL("streamed and whole image differ; smallest case found:\n"
           << command_line(shrunk(c, [&](const PropertyCase& smaller) { return !holds(smaller, devices); })));
  }
  SUCCEED();
}

/// Checks holds_in_parts() for `count` random cases.
void check_parts(std::uint64_t seed, std::uint64_t count, const std::vector<int>& devices = {}) {
  for (std::uint64_t index = 0; index < count; ++index) {
    std::mt19937_64 random(seed * 1000003 + index);
    const PropertyCase c = random_case(random);
    INFO("parts, seed " << seed << ", case " << index << "\n" << command_line(c));
    CHECK(holds_in_parts(c, random, devices));
  }
}

}  // namespace

#ifndef SEPCONV_SIMULATED_GPU
// SEPCONV_PROPERTY_SEED and SEPCONV_PROPERTY_CASES choose other cases, as ./dev fuzz bands does.
TEST_CASE("streaming equals whole image, byte for byte", "[property]") {
  check_cases(from_environment("SEPCONV_PROPERTY_SEED", 1),
              from_environment("SEPCONV_PROPERTY_CASES", 400 / kCaseDivisor));
}

TEST_CASE("streaming equals whole image over many more cases", "[property][slow]") {
  check_cases(from_environment("SEPCONV_PROPERTY_SEED", 2),
              from_environment("SEPCONV_PROPERTY_CASES", 1500 / kCaseDivisor));
}

#endif

TEST_CASE("streaming through a GPU equals whole image, byte for byte", "[property][gpu]") {
  SEPCONV_NEEDS_GPU();
  check_cases(from_environment("SEPCONV_PROPERTY_SEED", 3),
              from_environment("SEPCONV_PROPERTY_CASES", kDeviceCases), {0});
}

TEST_CASE("streaming through a GPU equals whole image, a few cases", "[property][gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  check_cases(from_environment("SEPCONV_PROPERTY_SEED", 4), from_environment("SEPCONV_PROPERTY_CASES", 4),
              {0});
}

TEST_CASE("streaming through a GPU equals whole image over many more cases", "[property][gpu][slow]") {
  SEPCONV_NEEDS_GPU();
  check_cases(from_environment("SEPCONV_PROPERTY_SEED", 5),
              from_environment("SEPCONV_PROPERTY_CASES", kManyDeviceCases), {0});
}

TEST_CASE("streaming through several GPUs equals whole image, byte for byte", "[property][gpu]") {
  SEPCONV_NEEDS_GPU();
  std::vector<int> devices;
  for (const DeviceInfo& device : list_devices()) devices.push_back(device.index);
  if (devices.size() < 2) {
    WARN("skipped: only one GPU");
    return;
  }
  check_cases(from_environment("SEPCONV_PROPERTY_SEED", 6),
              from_environment("SEPCONV_PROPERTY_CASES", kDeviceCases), devices);
}

TEST_CASE("streaming through the CPU and GPUs equals whole image, byte for byte", "[property][gpu][lanes]") {
  SEPCONV_NEEDS_GPU();
  std::vector<int> devices{kCpu, 0};
  check_cases(from_environment("SEPCONV_PROPERTY_SEED", 10),
              from_environment("SEPCONV_PROPERTY_CASES", kDeviceCases), devices);
  if (list_devices().size() < 2) return;
  devices.push_back(1);
  check_cases(from_environment("SEPCONV_PROPERTY_SEED", 11),
              from_environment("SEPCONV_PROPERTY_CASES", kDeviceCases), devices);
}

#ifndef SEPCONV_SIMULATED_GPU
TEST_CASE("regions and ranges of bands are parts of the whole image, byte for byte", "[property]") {
  check_parts(from_environment("SEPCONV_PROPERTY_SEED", 7),
              from_environment("SEPCONV_PROPERTY_CASES", 300 / kCaseDivisor));
}
#endif

TEST_CASE("regions and ranges of bands through GPUs are parts of the whole image", "[property][gpu]") {
  SEPCONV_NEEDS_GPU();
  std::vector<int> devices;
  for (const DeviceInfo& device : list_devices()) devices.push_back(device.index);
  const std::uint64_t count = from_environment("SEPCONV_PROPERTY_CASES", kDeviceCases / 2);
  check_parts(from_environment("SEPCONV_PROPERTY_SEED", 8), count, {devices.front()});
  check_parts(from_environment("SEPCONV_PROPERTY_SEED", 9), count, devices);
  devices.insert(devices.begin(), kCpu);
  check_parts(from_environment("SEPCONV_PROPERTY_SEED", 12), count, devices);
}

#ifndef SEPCONV_SIMULATED_GPU
TEST_CASE("a plane that repeats is put together where more of it is needed than at its corners",
          "[property]") {
  PropertyCase c;
  c.spec = {{28, 27}, 3, PixelType::f32};
  c.stages = {"max:chain=[box:radius=0,radius_y=6,border=wrap | box:radius=9,border=reflect]",
              "box:radius=0,radius_z=2"};
  c.threads = 2;
  c.band_rows = 3;
  c.tile = {22, 26};
  c.depth = 14;
  CHECK(holds(c));
}

TEST_CASE("an own chain has scratch for cells that lie otherwise in a part than in the middle one",
          "[property]") {
  PropertyCase c;
  c.spec = {{3001, 1}, 1, PixelType::i16};
  c.stages = {
      "subtract:chain=[local_normalize:radius=11,min_std=2,border=reflect,nodata=propagate | "
      "gaussian:sigma=9.5,sigma_y=40,method=multirate,nodata=fill]"};
  c.band_rows = 16;
  c.tile = {38, 2};
  CHECK(holds(c));
}

TEST_CASE("a failing case shrinks to the part that fails", "[property]") {
  const auto fails = [](const PropertyCase& c) {
    return c.spec.extent.rows >= 5 && c.spec.channels > 1 &&
           std::ranges::any_of(c.stages, [](const std::string& stage) { return stage.starts_with("box"); });
  };
  PropertyCase failing;
  failing.spec = {{97, 64}, 3, PixelType::f32};
  failing.stages = {"gaussian:sigma=1", "box:radius=3", "abs"};
  failing.threads = 4;
  failing.band_cols = 16;
  failing.delay_us = 50;
  REQUIRE(fails(failing));
  const PropertyCase small = shrunk(failing, fails);
  CHECK(fails(small));
  CHECK(small.spec.extent == Extent{5, 1});
  CHECK(small.stages == std::vector<std::string>{"box:radius=3"});
  CHECK(command_line(small) ==
        "sepconv generate in.npy --size 1x5 --channels 3 --type u8 --pattern noise --seed 0\n"
        "sepconv run in.npy whole.npy box:radius=3 --reference\n"
        "sepconv run in.npy streamed.npy box:radius=3 --threads 1 --slots 1 --band-rows 5\n"
        "sepconv compare whole.npy streamed.npy\n");
}
#endif
