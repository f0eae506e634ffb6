// Who does the work of a GPU: a table with a function for each launcher and for each call of the CUDA
// runtime. What callers use (convolve_cuda, copy_rows, Stream ...) is written once, checks its arguments and
// asks the table; a backend is what the table points to.
//
// There are two: the CUDA engine (engine.cpp and the .cu files), which a build with a CUDA toolkit begins
// with, and the GPU made of threads that tests install (tests/simulated_gpu). A build without CUDA has none.
#pragma once

#include "kernels/codec/decode.hpp"
#include "kernels/conv/conv.hpp"
#include "kernels/cuda/copy_rows_by_kernel.hpp"
#include "kernels/cuda/device_rates.hpp"
#include "kernels/cuda/runtime.hpp"
#include "kernels/deflate/tiles.hpp"
#include "kernels/gemm/exact.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/pointwise/alpha.hpp"
#include "kernels/pointwise/missing.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "kernels/rank/rank.hpp"
#include "kernels/reduce/reduce.hpp"
#include "kernels/resample/resample.hpp"
#include "kernels/sliding_window/standard_deviation.hpp"
#include "kernels/sliding_window/window.hpp"
#include "kernels/transpose/transpose.hpp"

namespace sepconv {

/// Each entry keeps the promises of the function whose type it has. References, so that a table with a gap
/// does not compile.
struct CudaBackend {
  // The runtime. What has a `DeviceStream` or `DeviceEvent` is what Stream and Event are made of.
  decltype(sepconv::check_cuda)& check;
  decltype(sepconv::cuda_devices)& devices;
  decltype(sepconv::free_device_memory_bytes)& free_memory_bytes;
  decltype(sepconv::has_context)& has_context;
  decltype(sepconv::set_current_device)& set_current_device;
  decltype(sepconv::current_device)& current_device;
  decltype(sepconv::device_resource)& device_resource;
  decltype(sepconv::pinned_resource)& pinned_resource;
  decltype(sepconv::copy_rows)& copy_rows;  ///< of at least one byte
  decltype(sepconv::copy_rows_by_kernel)& copy_rows_by_kernel;
  decltype(sepconv::is_capturing)& is_capturing;
  decltype(sepconv::measure_device_limits)& measure_limits;
  DeviceStream (&make_stream)(Stream::Priority);
  void (&synchronize_stream)(DeviceStream);
  void (&destroy_stream)(DeviceStream) noexcept;
  DeviceEvent (&make_event)(Event::Timing);
  void (&record)(DeviceEvent, DeviceStream);
  void (&wait_in)(DeviceEvent, DeviceStream);
  void (&synchronize_event)(DeviceEvent);
  double (&seconds_between)(DeviceEvent earlier, DeviceEvent later);
  void (&destroy_event)(DeviceEvent) noexcept;
  void (&begin_range)(const char* name, std::int64_t band) noexcept;
  void (&end_range)() noexcept;

  // The launchers. But for products, whose shapes are checked where they are made, arguments fit each other;
  // a result of a convolution, a resampling or of an operation on pixels or their channels has pixels.
  decltype(sepconv::pointwise_cuda)& pointwise;
  decltype(sepconv::mix_channels_cuda)& mix_channels;
  decltype(sepconv::alpha_cuda)& alpha;
  decltype(sepconv::keep_alpha_cuda)& keep_alpha;
  decltype(sepconv::find_nan_cuda)& find_nan;
  void (&convolve)(CudaDesign, const SeparableTaps&, const Border&, const ConstRegion& in, const Region& out,
                   Arithmetic, Arena&, DeviceStream, const ConvolutionEpilogue&);
  decltype(sepconv::convolve_cuda_fits)& convolve_fits;
  decltype(sepconv::convolve_device_bytes)& convolve_bytes;
  decltype(sepconv::resample_cuda)& resample;
  decltype(sepconv::rank_cuda)& order;
  decltype(sepconv::rank_device_bytes)& rank_bytes;
  decltype(sepconv::window_cuda)& window;  ///< of boxes
  decltype(sepconv::window_cuda)& disk;    ///< of disks
  decltype(sepconv::deviation_cuda)& deviation;
  decltype(sepconv::transpose_cuda)& transpose;
  decltype(sepconv::gemm_cuda)& gemm;
  decltype(sepconv::prepare_gemm_cuda)& prepare_gemm;
  decltype(sepconv::gemm_cuda_library)& gemm_library;
  decltype(sepconv::exact_gemm_cuda)& exact_gemm;
  decltype(sepconv::cell_moments_cuda)& cell_moments;
  decltype(sepconv::count_values_cuda)& count_values;
  decltype(sepconv::count_bins_cuda)& count_bins;
  decltype(sepconv::encode_tiles_cuda)& encode_tiles;
  decltype(sepconv::decode_tiles_cuda)& decode_tiles;
  decltype(sepconv::unpredict_tiles_cuda)& unpredict_tiles;
};

/// The backend in use. Throws CudaError where there is none.
const CudaBackend& cuda_backend();
/// The same, or null.
const CudaBackend* find_cuda_backend() noexcept;

/// From now on this backend does the work, for the whole process; it outlives every call. To be called before
/// anything else that needs a GPU: streams, events and memory belong to the backend that made them.
void install_cuda_backend(const CudaBackend& backend) noexcept;

}  // namespace sepconv
