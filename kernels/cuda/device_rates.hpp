// What a GPU and its bus can do at best, measured: the limits that a run is held against.
#pragma once

#include <cstdint>

namespace sepconv {

/// Rates that a GPU reaches now. One operation of `fma` is one multiplication and one addition.
struct DeviceRates {
  double upload_bytes_per_second = 0;    ///< page-locked host memory to device memory, alone
  double download_bytes_per_second = 0;  ///< the other way, alone
  double duplex_bytes_per_second = 0;    ///< each way while both go
  double copy_bytes_per_second = 0;      ///< within device memory, beyond its caches; read + written
  double fma_f32_per_second = 0;
  double fma_f64_per_second = 0;
};

/// Measures in a few tenths of a second, context and page locking included. Holds up to twice `bytes` of
/// page-locked host memory and 16 times `bytes` of device memory (less when less is free; 1 and 2 MiB at the
/// least) meanwhile; works on streams of its own. With few bytes the copy is one within caches. Throws
/// CudaError and OutOfMemory.
DeviceRates measure_device_limits(int device, std::int64_t bytes = std::int64_t{64} << 20);

}  // namespace sepconv
