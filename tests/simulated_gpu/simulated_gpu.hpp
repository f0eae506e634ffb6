// A GPU made of threads, for tests of the engine's order: see simulated_runtime.cpp.
#pragma once

#include <atomic>
#include <functional>
#include <type_traits>

#include "kernels/cuda/backend.hpp"

namespace sepconv::simulated {

/// For install_cuda_backend. Two devices.
extern const CudaBackend gpu;

/// `task` runs on the stream's thread when all that was enqueued before is done.
void enqueue(DeviceStream stream, std::function<void()> task);

// Its launchers (simulated_kernels.cpp).
decltype(sepconv::pointwise_cuda) pointwise;
decltype(sepconv::mix_channels_cuda) mix_channels;
decltype(sepconv::alpha_cuda) alpha;
decltype(sepconv::keep_alpha_cuda) keep_alpha;
decltype(sepconv::find_nan_cuda) find_nan;
std::remove_reference_t<decltype(CudaBackend::convolve)> convolve;
decltype(sepconv::convolve_cuda_fits) convolve_fits;
decltype(sepconv::convolve_device_bytes) convolve_bytes;
decltype(sepconv::resample_cuda) resample;
decltype(sepconv::rank_cuda) order;
decltype(sepconv::rank_device_bytes) rank_bytes;
decltype(sepconv::window_cuda) window;  ///< disks too
decltype(sepconv::deviation_cuda) deviation;
decltype(sepconv::transpose_cuda) transpose;
decltype(sepconv::gemm_cuda) gemm;
decltype(sepconv::prepare_gemm_cuda) prepare_gemm;
decltype(sepconv::gemm_cuda_library) gemm_library;
decltype(sepconv::exact_gemm_cuda) exact_gemm;
decltype(sepconv::cell_moments_cuda) cell_moments;
decltype(sepconv::count_values_cuda) count_values;
decltype(sepconv::count_bins_cuda) count_bins;

// Those that need more of sepconv than is installed (simulated_tiles.cpp).
decltype(sepconv::encode_tiles_cuda) encode_tiles;
decltype(sepconv::decode_tiles_cuda) decode_tiles;
decltype(sepconv::unpredict_tiles_cuda) unpredict_tiles;

/// What has_context() says.
extern std::atomic<bool> context_is_made;

}  // namespace sepconv::simulated
