// The GPU backend: a table with a function for each launcher and for each call of the CUDA runtime. The
// functions that callers use (convolve_device, copy_rows, Stream ...) are written once, check their arguments
// and call through the table.
//
// There are two backends: the CUDA engine (cuda_backend.cpp and the .cu files), the default of a build with a
// CUDA toolkit, and the simulated GPU that tests install (tests/simulated_gpu). A build without CUDA has
// none.
#pragma once

#include "kernels/codec/decode.hpp"
#include "kernels/conv/conv.hpp"
#include "kernels/deflate/tiles.hpp"
#include "kernels/device/copy_rows_by_kernel.hpp"
#include "kernels/device/device_rates.hpp"
#include "kernels/device/runtime.hpp"
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

/// Each entry has the type and the contract of the function it names. Entries are references, so that a table
/// with a missing entry does not compile.
struct DeviceBackend {
  // The runtime. Functions with a `DeviceStream` or `DeviceEvent` implement Stream and Event.
  decltype(sepconv::check_cuda)& check;
  decltype(sepconv::list_devices)& devices;
  decltype(sepconv::free_device_memory_bytes)& free_memory_bytes;
  decltype(sepconv::has_context)& has_context;
  decltype(sepconv::set_current_device)& set_current_device;
  decltype(sepconv::current_device)& current_device;
  decltype(sepconv::device_resource)& device_resource;
  decltype(sepconv::pinned_resource)& pinned_resource;
  decltype(sepconv::copy_rows)& copy_rows;  ///< called with at least one byte
  decltype(sepconv::copy_rows_by_kernel)& copy_rows_by_kernel;
  decltype(sepconv::is_capturing)& is_capturing;
  decltype(sepconv::measure_device_limits)& measure_limits;
  DeviceStream (&make_stream)(Stream::Priority);
  void (&synchronize_stream)(DeviceStream);
  void (&destroy_stream)(DeviceStream) noexcept;
  DeviceEvent (&make_event)(Event::Timing);
  void (&record)(DeviceEvent, DeviceStream);
  void (&make_stream_wait)(DeviceEvent, DeviceStream);
  void (&synchronize_event)(DeviceEvent);
  double (&seconds_between)(DeviceEvent earlier, DeviceEvent later);
  void (&destroy_event)(DeviceEvent) noexcept;
  void (&begin_range)(const char* name, std::int64_t band) noexcept;
  void (&end_range)() noexcept;

  // The launchers. The callers have checked that the arguments match, except for matrix products, which check
  // their own shapes. Results of convolution, resampling and pixel operations are not empty.
  decltype(sepconv::pointwise_device)& pointwise;
  decltype(sepconv::mix_channels_device)& mix_channels;
  decltype(sepconv::alpha_device)& alpha;
  decltype(sepconv::keep_alpha_device)& keep_alpha;
  decltype(sepconv::find_nan_device)& find_nan;
  void (&convolve)(ConvolutionDesign, const SeparableTaps&, const Border&, const ConstRegion& in,
                   const Region& out, Arithmetic, Arena&, DeviceStream, const ConvolutionEpilogue&);
  decltype(sepconv::convolve_device_fits)& convolve_fits;
  decltype(sepconv::convolve_device_bytes)& convolve_bytes;
  decltype(sepconv::resample_device)& resample;
  decltype(sepconv::rank_device)& order;
  decltype(sepconv::rank_device_bytes)& rank_bytes;
  decltype(sepconv::window_device)& window;  ///< box windows
  decltype(sepconv::window_device)& disk;    ///< disk windows
  decltype(sepconv::deviation_device)& deviation;
  decltype(sepconv::transpose_device)& transpose;
  decltype(sepconv::gemm_device)& gemm;
  decltype(sepconv::prepare_gemm_device)& prepare_gemm;
  decltype(sepconv::gemm_device_library)& gemm_library;
  decltype(sepconv::exact_gemm_device)& exact_gemm;
  decltype(sepconv::cell_moments_device)& cell_moments;
  decltype(sepconv::count_values_device)& count_values;
  decltype(sepconv::count_bins_device)& count_bins;
  decltype(sepconv::encode_tiles_device)& encode_tiles;
  decltype(sepconv::decode_tiles_device)& decode_tiles;
  decltype(sepconv::unpredict_tiles_device)& unpredict_tiles;
};

/// The current backend. Throws DeviceError if there is none.
const DeviceBackend& device_backend();
/// The current backend, or null.
const DeviceBackend* find_device_backend() noexcept;

/// Makes this the backend of the whole process. It must outlive every call. Call this before anything else
/// that needs a GPU: streams, events and memory belong to the backend that created them.
void install_device_backend(const DeviceBackend& backend) noexcept;

}  // namespace sepconv
