// Measured peak rates of a GPU and its bus, with which a run is compared.
#pragma once

#include <cstdint>

namespace sepconv {

/// Peak rates of a GPU. One operation of `fma` is one multiplication and one addition.
struct DeviceRates {
  double upload_bytes_per_second = 0;  ///< page-locked host memory to device memory, one direction at a time
  double download_bytes_per_second =
      0;                               ///< device memory to page-locked host memory, one direction at a time
  double duplex_bytes_per_second = 0;  ///< per direction with both directions active
  double copy_bytes_per_second = 0;    ///< within device memory, larger than its caches; read + written
  double fma_f32_per_second = 0;
  double fma_f64_per_second = 0;
};

/// Measures the rates in a few tenths of a second, including context creation and page locking. Meanwhile
/// allocates up to twice `bytes` of page-locked host memory and 16 times `bytes` of device memory (less if
/// less is free, but at least 1 and 2 MiB). Uses separate streams. With small `bytes` the copy stays within
/// caches. Throws DeviceError and OutOfMemory.
DeviceRates measure_device_limits(int device, std::int64_t bytes = std::int64_t{64} << 20);

}  // namespace sepconv
