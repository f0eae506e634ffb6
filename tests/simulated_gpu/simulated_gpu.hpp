// A simulated GPU made of threads, for tests of the engine's ordering: see simulated_runtime.cpp.
#pragma once

#include <atomic>
#include <functional>
#include <type_traits>

#include "kernels/device/backend.hpp"

namespace sepconv::simulated {

/// The backend for install_device_backend(), with two devices. It has no codecs, since these need headers of
/// sepconv that are not installed.
extern const DeviceBackend gpu;
/// The same with codecs (simulated_tiles.cpp).
extern const DeviceBackend gpu_with_codecs;

/// Runs `task` on the stream's thread after all tasks enqueued before.
void enqueue(DeviceStream stream, std::function<void()> task);

// Kernel launchers (simulated_kernels.cpp).
decltype(sepconv::pointwise_device) pointwise;
decltype(sepconv::mix_channels_device) mix_channels;
decltype(sepconv::alpha_device) alpha;
decltype(sepconv::keep_alpha_device) keep_alpha;
decltype(sepconv::find_nan_device) find_nan;
std::remove_reference_t<decltype(DeviceBackend::convolve)> convolve;
decltype(sepconv::convolve_device_fits) convolve_fits;
decltype(sepconv::convolve_device_bytes) convolve_bytes;
decltype(sepconv::resample_device) resample;
decltype(sepconv::rank_device) order;
decltype(sepconv::rank_device_bytes) rank_bytes;
decltype(sepconv::window_device) window;  ///< disks too
decltype(sepconv::deviation_device) deviation;
decltype(sepconv::transpose_device) transpose;
decltype(sepconv::gemm_device) gemm;
decltype(sepconv::prepare_gemm_device) prepare_gemm;
decltype(sepconv::gemm_device_library) gemm_library;
decltype(sepconv::exact_gemm_device) exact_gemm;

/// The result of has_context().
extern std::atomic<bool> context_created;

}  // namespace sepconv::simulated
