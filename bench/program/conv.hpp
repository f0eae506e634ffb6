// sepconv bench conv: its request and its results. Internal to bench/program/.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "app/options.hpp"
#include "bench.hpp"
#include "core/memory.hpp"
#include "kernels/conv/conv.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::app {

struct ConvRequest {
  Extent extent{8192, 8192};
  std::vector<std::int64_t> radii{2, 4, 8, 16, 32, 64, 80};
  std::vector<PixelType> types{PixelType::f64, PixelType::f32};
  std::int64_t channels = 1;  ///< interleaved; the GPU variants support one
  Extent tiled_extent{16384, 16384};
  std::int64_t tiled_radius = 32;
  int runs = 12;
  bool cpu = true;    ///< also measure the host engine besides a GPU
  bool tiled = true;  ///< also measure an image in bands
  bool json = false;
  RunOptions options;  ///< of the host engine and of run(): threads, stop, and the chosen GPU

  int gpu() const { return options.devices.front(); }
};

/// Times request.runs calls after a warm-up call. Throws Cancelled between two calls if a stop is requested.
TrimmedMean time_trimmed(const ConvRequest& request, const std::function<double()>& seconds_of_run);

/// Measured limits of the device of a row.
struct ConvLimits {
  double copy_bytes_per_second = 0;  ///< read + written
  double fma_per_second = 0;         ///< in the row's type
};

/// One measured convolution of the whole image: by a GPU variant or by the host engine.
struct ConvRow {
  PixelType type = PixelType::f64;
  std::int64_t radius = 0;
  int variant = 0;  ///< 1 to 5; 0: the CPU
  std::string name{};
  TrimmedMean time{};
  ConvLimits limits{};
};

/// Measured copies of the image to the GPU and back.
struct CopyRow {
  PixelType type = PixelType::f64;
  std::int64_t radius = 0;  ///< of the kernels that were measured with it
  bool page_locked = true;
  TrimmedMean upload{}, download{};
};

/// One measured convolution of an image in host memory that is streamed through the GPU in bands.
struct TiledRow {
  PixelType type = PixelType::f64;
  std::string name{};
  int in_flight = 1;  ///< streams or slots
  std::int64_t band_rows = 0;
  TrimmedMean time{};
};

struct ConvResult {
  std::string device;
  std::vector<ConvRow> rows;
  std::vector<CopyRow> copies;  ///< per type: page-locked for every radius, then pageable once
  std::vector<TiledRow> tiled;
};

/// The row with the type and radius of `row`. Null if it was not measured.
const ConvRow* find_row(const ConvResult& result, const ConvRow& row, int variant);
/// The page-locked copies with the type and radius of `row`; null on a CPU.
const CopyRow* find_copies(const ConvResult& result, const ConvRow& row);

/// Rates count one read and one write of every pixel, and 2 (2 radius + 1) multiply-adds per pixel.
double pixels_per_second(const ConvRequest& request, const ConvRow& row);
double bytes_per_second(const ConvRequest& request, const ConvRow& row);
double copy_fraction(const ConvRequest& request, const ConvRow& row);
double fma_fraction(const ConvRequest& request, const ConvRow& row);
/// Fraction of the roofline, the lower of both limits.
inline double roofline_fraction(const ConvRequest& request, const ConvRow& row) {
  return std::max(copy_fraction(request, row), fma_fraction(request, row));
}

/// The Gaussian of this radius with zeros beyond the image, as in the lab exercise; as a chain and as taps.
Chain bench_chain(std::int64_t radius);
SeparableTaps bench_taps(std::int64_t radius);
inline constexpr Border kBenchBorder{BorderMode::constant, 0};

inline Arithmetic arithmetic_of(PixelType type) {
  return type == PixelType::f64 ? Arithmetic::f64 : Arithmetic::f32;
}

/// Source and result in host memory, allocated once for all runs; the source is noise.
struct HostPair {
  HostPair(const ConvRequest& request, const ImageSpec& spec, bool page_locked);
  Buffer from_memory, to_memory;
  PixelView from, to;
};
void fill_with_noise(const ConvRequest& request, const PixelView& view);

/// Measures the host engine on all threads with this image.
ConvRow time_host_engine(const ConvRequest& request, std::int64_t radius, const ConstPixelView& from,
                         const PixelView& to);

/// Elements of a band in the lab's method: 67,108,864 in its image of 16384 x 16384.
inline std::int64_t tile_elements(const ConvRequest& request) {
  return std::max<std::int64_t>(1, request.tiled_extent.area() / 4);
}

/// Scratch bytes that suffice for both of sepconv's own kernels, variants 4 and 5.
std::int64_t sepconv_device_bytes(const ImageSpec& spec, std::int64_t radius);

/// Throws OutOfMemory if the buffers of bench_variants and bench_tiled do not fit on the GPU or on the host.
void check_memory(const ConvRequest& request);
/// Measures every variant for every type and radius, and the copies. Throws Error if a result is wrong.
void bench_variants(const ConvRequest& request, ConvResult& result);
/// Measures the large image in bands, with the lab's method and with run(). Throws Error if a result is
/// wrong.
void bench_tiled(const ConvRequest& request, ConvResult& result);

void print_conv_tables(const ConvRequest& request, const ConvResult& result);
void print_conv_json(const ConvRequest& request, const ConvResult& result);

}  // namespace sepconv::app
