// The measured limits of a GPU are plausible relative to each other. Their absolute values are not tested.
#include "kernels/device/device_rates.hpp"

#include <catch2/catch.hpp>

#include "../support/gpu.hpp"

using namespace sepconv;

TEST_CASE("limits of a GPU are measured and hang together", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const std::int64_t free_before = free_device_memory_bytes(0);
  const DeviceRates limits = measure_device_limits(0);
  CAPTURE(limits.upload_bytes_per_second, limits.download_bytes_per_second, limits.duplex_bytes_per_second,
          limits.copy_bytes_per_second, limits.fma_f32_per_second, limits.fma_f64_per_second);
  CHECK(limits.upload_bytes_per_second > 1e9);
  CHECK(limits.download_bytes_per_second > 1e9);
  CHECK(limits.duplex_bytes_per_second > 0.3 * limits.upload_bytes_per_second);
  CHECK(limits.duplex_bytes_per_second < 1.2 * limits.upload_bytes_per_second);
  CHECK(limits.copy_bytes_per_second > limits.upload_bytes_per_second);
  CHECK(limits.fma_f32_per_second > 1e11);
  CHECK(limits.fma_f64_per_second < 1.1 * limits.fma_f32_per_second);
  CHECK(free_device_memory_bytes(0) >= free_before - (std::int64_t{16} << 20));  // all memory was freed
}

TEST_CASE("limits of a GPU that is not there are refused") {
  if (!list_devices().empty()) return;
  CHECK_THROWS_AS(measure_device_limits(0), DeviceError);
}
