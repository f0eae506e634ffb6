// The backend of the devices: a table of functions for streams, events and memory, and of launchers of kernels.
// The functions that callers use (convolve_device, copy_rows, Stream ...) are written once, check their
// arguments and call through the table.
//
// Two backends are in the tree: the CUDA engine (kernels/cuda/cuda_backend.cpp and the .cu files), the default
// of a build with a CUDA toolkit, and the simulated GPU that tests install (tests/simulated_gpu). A build
// without CUDA has none. Programs may install their own.
#pragma once

#include <optional>
#include <string_view>

#include "kernels/codec/decode.hpp"
#include "kernels/conv/conv.hpp"
#include "kernels/deflate/tiles.hpp"
#include "kernels/device/copy_rows_by_kernel.hpp"
#include "kernels/device/device_rates.hpp"
#include "kernels/device/optional_kernels.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/gemm/exact.hpp"
#include "kernels/gemm/gemm.hpp"
#include "kernels/pointwise/alpha.hpp"
#include "kernels/pointwise/missing.hpp"
#include "kernels/pointwise/pointwise.hpp"
#include "kernels/rank/rank.hpp"
#include "kernels/resample/resample.hpp"
#include "kernels/sliding_window/standard_deviation.hpp"
#include "kernels/sliding_window/window.hpp"
#include "kernels/transpose/transpose.hpp"

namespace sepconv {

/// An entry that is declared by the function it implements has that function's contract. The callers have
/// checked that the arguments match, except for matrix products, which check their own shapes. Results of
/// convolution, resampling and pixel operations are not empty.
///
/// Entries that every backend needs are references, so that a table without one does not compile. Without an
/// optional kernel the stages that need it run on the CPU (optional_kernels.hpp).
struct DeviceBackend {
  struct ProfilerRanges {
    void (&begin)(const char* name, std::int64_t band) noexcept;
    void (&end)() noexcept;
  };
  struct Alpha {
    decltype(sepconv::alpha_device)& apply;
    decltype(sepconv::keep_alpha_device)& keep;
  };
  struct Ranks {
    decltype(sepconv::rank_device)& filter;
    decltype(sepconv::rank_device_bytes)& bytes;
  };
  struct Products {
    decltype(sepconv::gemm_device)& multiply;
    decltype(sepconv::prepare_gemm_device)& prepare;
    decltype(sepconv::gemm_device_library)& library;
  };
  struct Decoders {
    decltype(sepconv::decode_tiles_device)& decode;
    decltype(sepconv::unpredict_tiles_device)& unpredict;
  };

  std::string_view name;  ///< in messages: "CUDA"

  // The runtime. Functions with a `DeviceStream` or `DeviceEvent` implement Stream and Event.
  decltype(sepconv::list_devices)& devices;
  decltype(sepconv::free_device_memory_bytes)& free_memory_bytes;
  decltype(sepconv::has_context)& has_context;
  decltype(sepconv::set_current_device)& set_current_device;
  decltype(sepconv::current_device)& current_device;
  decltype(sepconv::device_resource)& device_resource;
  decltype(sepconv::pinned_resource)& pinned_resource;
  decltype(sepconv::copy_rows)& copy_rows;  ///< called with at least one byte
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

  // The kernels of every backend.
  decltype(sepconv::pointwise_device)& pointwise;
  void (&convolve)(ConvolutionDesign, const SeparableTaps&, const Border&, const ConstRegion& in,
                   const Region& out, Arithmetic, Arena&, DeviceStream, const ConvolutionEpilogue&);
  decltype(sepconv::convolve_device_bytes)& convolve_bytes;

  // Optional parts of the runtime and of convolution.
  decltype(sepconv::copy_rows_by_kernel)* copy_rows_by_kernel = nullptr;  ///< absent: copy_rows
  decltype(sepconv::is_capturing)* is_capturing = nullptr;                ///< absent: false
  std::optional<ProfilerRanges> profiler_ranges = std::nullopt;           ///< absent: none
  decltype(sepconv::convolve_device_fits)* convolve_fits = nullptr;       ///< absent: false

  // The optional kernels.
  decltype(sepconv::mix_channels_device)* mix_channels = nullptr;
  std::optional<Alpha> alpha = std::nullopt;
  decltype(sepconv::find_nan_device)* find_nan = nullptr;
  decltype(sepconv::resample_device)* resample = nullptr;
  std::optional<Ranks> ranks = std::nullopt;
  decltype(sepconv::window_device)* window = nullptr;  ///< box windows
  decltype(sepconv::window_device)* disk = nullptr;    ///< disk windows
  decltype(sepconv::deviation_device)* deviation = nullptr;
  decltype(sepconv::transpose_device)* transpose = nullptr;
  decltype(sepconv::exact_gemm_device)* exact_gemm = nullptr;
  std::optional<Products> products = std::nullopt;
  decltype(sepconv::encode_tiles_device)* encode_tiles = nullptr;
  std::optional<Decoders> decoders = std::nullopt;
};

/// The optional kernels that the backend has.
constexpr DeviceKernels optional_kernels_of(const DeviceBackend& backend) noexcept {
  using enum DeviceKernels;
  const auto if_any = [](bool exists, DeviceKernels kernels) { return exists ? kernels : none; };
  return if_any(backend.mix_channels != nullptr, channel_matrices) |
         if_any(backend.alpha.has_value(), alpha) | if_any(backend.find_nan != nullptr, nan_search) |
         if_any(backend.resample != nullptr, resampling) | if_any(backend.ranks.has_value(), ranks) |
         if_any(backend.window != nullptr, windows) | if_any(backend.disk != nullptr, disks) |
         if_any(backend.deviation != nullptr, deviations) | if_any(backend.transpose != nullptr, transposes) |
         if_any(backend.exact_gemm != nullptr, exact_products) |
         if_any(backend.products.has_value(), products) | if_any(backend.encode_tiles != nullptr, encoders) |
         if_any(backend.decoders.has_value(), decoders);
}

/// The installed backend. Throws DeviceError if no backend is installed.
const DeviceBackend& device_backend();
/// The installed backend, or null.
const DeviceBackend* find_device_backend() noexcept;

/// Makes this the backend of the whole process. It must outlive every call. Call this before anything else
/// that needs a device: streams, events and memory belong to the backend that created them.
void install_device_backend(const DeviceBackend& backend) noexcept;

}  // namespace sepconv
