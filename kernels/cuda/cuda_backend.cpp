// The CUDA engine: calls of the CUDA runtime, and the table of its functions.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <chrono>
#include <new>
#include <thread>
#include <type_traits>

#include "kernels/device/backend.hpp"

namespace sepconv {

// Defined next to their operations; the types are those of the public functions.
namespace engine {
decltype(sepconv::pinned_resource) pinned_resource;
void begin_range(const char* name, std::int64_t band) noexcept;
void end_range() noexcept;
decltype(sepconv::copy_rows_by_kernel) copy_rows_by_kernel;
decltype(sepconv::measure_device_limits) measure_device_limits;
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
decltype(sepconv::window_device) window;
decltype(sepconv::window_device) disk;
decltype(sepconv::deviation_device) deviation;
decltype(sepconv::transpose_device) transpose;
decltype(sepconv::gemm_device) gemm;
decltype(sepconv::prepare_gemm_device) prepare_gemm;
decltype(sepconv::gemm_device_library) gemm_library;
decltype(sepconv::exact_gemm_device) exact_gemm;
decltype(sepconv::encode_tiles_device) encode_tiles;
decltype(sepconv::decode_tiles_device) decode_tiles;
decltype(sepconv::unpredict_tiles_device) unpredict_tiles;
}  // namespace engine

void check_cuda(int status, const char* what) {
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaSuccess) return;
  cudaGetLastError();
  const std::string message =
      fmt::format("{} failed on the GPU: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error));
  if (error == cudaErrorMemoryAllocation) throw OutOfMemory(message);
  throw DeviceError(message);
}

namespace {

class DeviceResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaSuccess) return memory;
    cudaGetLastError();
    if (status == cudaErrorMemoryAllocation) throw std::bad_alloc();
    check_cuda(status, "allocating device memory");  // other errors of the GPU are not out of memory
    return nullptr;
  }
  void do_deallocate(void* memory, std::size_t, std::size_t) override { cudaFree(memory); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

DeviceInfo info_of(int index) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, index), "querying a device's properties");
  return {.index = index,
          .name = properties.name,
          .compute_capability = properties.major * 10 + properties.minor,
          .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
          .copy_engines = properties.asyncEngineCount,
          .multiprocessors = properties.multiProcessorCount};
}

std::vector<DeviceInfo> query_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<DeviceInfo> devices;
  try {
    for (int index = 0; index < count; ++index) devices.push_back(info_of(index));
  } catch (const DeviceError&) {  // omits a GPU that is no longer accessible, and those after it
  }
  return devices;
}

std::int64_t free_memory_bytes(int device) {
  const DeviceScope scope(device);
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "querying free device memory");
  return static_cast<std::int64_t>(free_bytes);
}

bool context_exists(int device) noexcept {
  // The runtime loads the driver at its first call, so it cannot be asked without loading it.
  void* const driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver == nullptr) return false;
  const auto state =
      reinterpret_cast<decltype(&cuDevicePrimaryCtxGetState)>(dlsym(driver, "cuDevicePrimaryCtxGetState"));
  unsigned flags = 0;
  int active = 0;
  const bool known = state != nullptr && state(device, &flags, &active) == CUDA_SUCCESS;
  dlclose(driver);
  return known && active != 0;
}

void set_device(int device) { check_cuda(cudaSetDevice(device), "choosing a device"); }

int get_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "querying the current device");
  return device;
}

std::pmr::memory_resource* device_memory() noexcept {
  static DeviceResource resource;
  return &resource;
}

void copy(void* to, std::int64_t to_pitch_bytes, const void* from, std::int64_t from_pitch_bytes,
          std::int64_t row_bytes, std::int64_t rows, DeviceStream stream) {
  const auto width = static_cast<std::size_t>(row_bytes);
  const auto height = static_cast<std::size_t>(rows);
  const bool dense = rows == 1 || (to_pitch_bytes == row_bytes && from_pitch_bytes == row_bytes);
  const cudaError_t status = dense ? cudaMemcpyAsync(to, from, width * height, cudaMemcpyDefault, stream)
                                   : cudaMemcpy2DAsync(to, static_cast<std::size_t>(to_pitch_bytes), from,
                                                       static_cast<std::size_t>(from_pitch_bytes), width,
                                                       height, cudaMemcpyDefault, stream);
  check_cuda(status, "copying rows");
}

bool stream_is_capturing(DeviceStream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "querying whether a stream is being captured");
  return status != cudaStreamCaptureStatusNone;
}

DeviceStream make_stream(Stream::Priority priority) {
  cudaStream_t stream = nullptr;
  int least_priority = 0;
  int greatest_priority = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&least_priority, &greatest_priority),
             "querying stream priorities");
  check_cuda(
      cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                   priority == Stream::Priority::high ? greatest_priority : least_priority),
      "creating a stream");
  return stream;
}
void synchronize_stream(DeviceStream stream) {
  check_cuda(cudaStreamSynchronize(stream), "work on a stream");
}
void destroy_stream(DeviceStream stream) noexcept { cudaStreamDestroy(stream); }

DeviceEvent make_event(Event::Timing timing) {
  cudaEvent_t event = nullptr;
  const unsigned flags = timing == Event::Timing::on ? cudaEventDefault : cudaEventDisableTiming;
  check_cuda(cudaEventCreateWithFlags(&event, flags), "creating an event");
  return event;
}
void record(DeviceEvent event, DeviceStream stream) {
  check_cuda(cudaEventRecord(event, stream), "recording an event");
}
void make_stream_wait(DeviceEvent event, DeviceStream stream) {
  check_cuda(cudaStreamWaitEvent(stream, event, 0), "waiting for an event");
}
/// Polls. cudaEventSynchronize would occupy a processor or, with cudaEventBlockingSync, wake up half a
/// millisecond late.
void synchronize_event(DeviceEvent event) {
  constexpr std::chrono::microseconds kPause{20};
  for (cudaError_t status = cudaErrorNotReady;; std::this_thread::sleep_for(kPause)) {
    status = cudaEventQuery(event);
    if (status != cudaErrorNotReady) return check_cuda(status, "work before an event");
  }
}
double seconds_between(DeviceEvent earlier, DeviceEvent later) {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, earlier, later), "timing");
  return milliseconds * 1e-3;
}
void destroy_event(DeviceEvent event) noexcept { cudaEventDestroy(event); }

}  // namespace

extern const DeviceBackend cuda_engine;
constexpr DeviceBackend cuda_engine{
    .name = "CUDA",
    .devices = query_devices,
    .free_memory_bytes = free_memory_bytes,
    .has_context = context_exists,
    .set_current_device = set_device,
    .current_device = get_device,
    .device_resource = device_memory,
    .pinned_resource = engine::pinned_resource,
    .copy_rows = copy,
    .measure_limits = engine::measure_device_limits,
    .make_stream = make_stream,
    .synchronize_stream = synchronize_stream,
    .destroy_stream = destroy_stream,
    .make_event = make_event,
    .record = record,
    .make_stream_wait = make_stream_wait,
    .synchronize_event = synchronize_event,
    .seconds_between = seconds_between,
    .destroy_event = destroy_event,
    .pointwise = engine::pointwise,
    .convolve = engine::convolve,
    .convolve_bytes = engine::convolve_bytes,
    .copy_rows_by_kernel = engine::copy_rows_by_kernel,
    .is_capturing = stream_is_capturing,
    .profiler_ranges = {{engine::begin_range, engine::end_range}},
    .convolve_fits = engine::convolve_fits,
    .mix_channels = engine::mix_channels,
    .alpha = {{engine::alpha, engine::keep_alpha}},
    .find_nan = engine::find_nan,
    .resample = engine::resample,
    .ranks = {{engine::order, engine::rank_bytes}},
    .window = engine::window,
    .disk = engine::disk,
    .deviation = engine::deviation,
    .transpose = engine::transpose,
    .exact_gemm = engine::exact_gemm,
    .products = {{engine::gemm, engine::prepare_gemm, engine::gemm_library}},
    .encode_tiles = engine::encode_tiles,
    .decoders = {{engine::decode_tiles, engine::unpredict_tiles}},
};
static_assert(optional_kernels_of(cuda_engine) == DeviceKernels::all);

}  // namespace sepconv
