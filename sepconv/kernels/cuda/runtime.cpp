#include "sepconv/kernels/cuda/runtime.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <chrono>
#include <new>
#include <thread>

namespace sepconv {
namespace {

class DeviceResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaSuccess) return memory;
    cudaGetLastError();
    if (status == cudaErrorMemoryAllocation) throw std::bad_alloc();
    check_cuda(status, "allocating device memory");  // a GPU that is in trouble has not run out of memory
    return nullptr;
  }
  void do_deallocate(void* memory, std::size_t, std::size_t) override { cudaFree(memory); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

DeviceInfo info_of(int index) {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, index), "asking for a device's properties");
  return {.index = index,
          .name = properties.name,
          .compute_capability = properties.major * 10 + properties.minor,
          .memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem),
          .copy_engines = properties.asyncEngineCount,
          .multiprocessors = properties.multiProcessorCount};
}

}  // namespace

void check_cuda(int status, const char* what) {
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaSuccess) return;
  cudaGetLastError();
  const std::string sentence =
      fmt::format("{} failed on the GPU: {} ({})", what, cudaGetErrorString(error), cudaGetErrorName(error));
  if (error == cudaErrorMemoryAllocation) throw OutOfMemory(sentence);
  throw CudaError(sentence);
}

bool built_with_cuda() noexcept { return true; }

std::vector<DeviceInfo> cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();
    return {};
  }
  std::vector<DeviceInfo> devices;
  try {
    for (int index = 0; index < count; ++index) devices.push_back(info_of(index));
  } catch (const CudaError&) {  // one that has fallen off the bus, and those after it
  }
  return devices;
}

std::int64_t free_device_memory_bytes(int device) {
  const DeviceScope scope(device);
  std::size_t free_bytes = 0;
  std::size_t all_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &all_bytes), "asking for free device memory");
  return static_cast<std::int64_t>(free_bytes);
}

void set_current_device(int device) { check_cuda(cudaSetDevice(device), "choosing a device"); }

int current_device() {
  int device = 0;
  check_cuda(cudaGetDevice(&device), "asking for the current device");
  return device;
}

DeviceScope::~DeviceScope() { cudaSetDevice(before_); }

std::pmr::memory_resource* device_resource() noexcept {
  static DeviceResource resource;
  return &resource;
}

void copy_rows(void* to, std::int64_t to_pitch_bytes, const void* from, std::int64_t from_pitch_bytes,
               std::int64_t row_bytes, std::int64_t rows, DeviceStream stream) {
  if (rows <= 0 || row_bytes <= 0) return;
  const auto width = static_cast<std::size_t>(row_bytes);
  const auto height = static_cast<std::size_t>(rows);
  const bool dense = rows == 1 || (to_pitch_bytes == row_bytes && from_pitch_bytes == row_bytes);
  const cudaError_t status = dense ? cudaMemcpyAsync(to, from, width * height, cudaMemcpyDefault, stream)
                                   : cudaMemcpy2DAsync(to, static_cast<std::size_t>(to_pitch_bytes), from,
                                                       static_cast<std::size_t>(from_pitch_bytes), width,
                                                       height, cudaMemcpyDefault, stream);
  check_cuda(status, "copying rows");
}

bool is_capturing(DeviceStream stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check_cuda(cudaStreamIsCapturing(stream, &status), "asking whether a stream is captured");
  return status != cudaStreamCaptureStatusNone;
}

Stream::Stream(Priority priority) {
  cudaStream_t stream = nullptr;
  int least = 0;
  int greatest = 0;
  check_cuda(cudaDeviceGetStreamPriorityRange(&least, &greatest), "asking for streams' priorities");
  check_cuda(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking,
                                          priority == Priority::high ? greatest : least),
             "making a stream");
  handle_.reset(stream);
}
void Stream::synchronize() const { check_cuda(cudaStreamSynchronize(get()), "work on a stream"); }
void Stream::Destroy::operator()(DeviceStream stream) const noexcept { cudaStreamDestroy(stream); }

Event::Event(Timing timing) {
  cudaEvent_t event = nullptr;
  const unsigned flags = timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming;
  check_cuda(cudaEventCreateWithFlags(&event, flags), "making an event");
  handle_.reset(event);
}
void Event::record(DeviceStream stream) const {
  check_cuda(cudaEventRecord(handle_.get(), stream), "recording an event");
}
void Event::wait_in(DeviceStream stream) const {
  check_cuda(cudaStreamWaitEvent(stream, handle_.get(), 0), "waiting for an event");
}
/// Asks now and then. cudaEventSynchronize would keep a processor busy, or, with cudaEventBlockingSync, wake
/// up half a millisecond late.
void Event::synchronize() const {
  constexpr std::chrono::microseconds kPause{20};
  for (cudaError_t status = cudaErrorNotReady;; std::this_thread::sleep_for(kPause)) {
    status = cudaEventQuery(handle_.get());
    if (status != cudaErrorNotReady) return check_cuda(status, "work before an event");
  }
}
double Event::seconds_since(const Event& earlier) const {
  float milliseconds = 0;
  check_cuda(cudaEventElapsedTime(&milliseconds, earlier.handle_.get(), handle_.get()), "timing");
  return milliseconds * 1e-3;
}
void Event::Destroy::operator()(DeviceEvent event) const noexcept { cudaEventDestroy(event); }

}  // namespace sepconv
