// A simulated GPU made of threads, for tests of the engine's ordering: see simulated_runtime.cpp.
#pragma once

#include <atomic>
#include <functional>
#include <type_traits>

#include "kernels/cuda/backend.hpp"

namespace sepconv::simulated {

/// The backend for install_cuda_backend(), with two devices.
extern const CudaBackend gpu;

/// Runs `task` on the stream's thread after all tasks enqueued before.
void enqueue(DeviceStream stream, std::function<void()> task);

// Kernel launchers (simulated_kernels.cpp).
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

// Launchers that need headers of sepconv that are not installed (simulated_tiles.cpp).
decltype(sepconv::encode_tiles_cuda) encode_tiles;
decltype(sepconv::decode_tiles_cuda) decode_tiles;
decltype(sepconv::unpredict_tiles_cuda) unpredict_tiles;

/// The result of has_context().
extern std::atomic<bool> context_created;

}  // namespace sepconv::simulated
