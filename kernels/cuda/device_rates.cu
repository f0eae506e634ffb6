// Limits of a GPU: transfers over the bus, copies within its memory, and chains of fused multiply-adds.
#include <cuda_runtime.h>

#include <algorithm>
#include <vector>

#include "core/memory.hpp"
#include "kernels/cuda/device_pixel.cuh"
#include "kernels/device/device_rates.hpp"
#include "kernels/device/runtime.hpp"

namespace sepconv::engine {
namespace {

constexpr int kRounds = 5;
constexpr int kTransfersPerRound = 4;        // consecutive, as in a run
constexpr std::int64_t kCopyPerBusByte = 8;  // at most 512 MiB: much larger than the L2 cache of any GPU
constexpr std::int64_t kMinCopyBytes = std::int64_t{1} << 20;
constexpr int kThreads = 256;
constexpr int kChains = 8;  // independent, so that multiply-adds do not wait for each other
constexpr int kFmaSteps = 2048;

/// Copies `count` 16-byte elements with a grid-stride loop.
__global__ void __launch_bounds__(kThreads)
    copy_wide(const uint4* __restrict__ from, uint4* __restrict__ to, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * kThreads;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x; i < count; i += step)
    to[i] = from[i];
}

/// kChains * kFmaSteps multiply-adds per thread. The result is stored only under an impossible condition, so
/// that the compiler removes nothing.
template <class T>
__global__ void __launch_bounds__(kThreads) fma_chains(T factor, T* unreachable) {
  T chain[kChains];
  for (int i = 0; i < kChains; ++i) chain[i] = static_cast<T>(threadIdx.x + i);
#pragma unroll 8
  for (int step = 0; step < kFmaSteps; ++step) {
    for (int i = 0; i < kChains; ++i) chain[i] = device::fused_multiply_add(chain[i], factor, factor);
  }
  T sum = 0;
  for (int i = 0; i < kChains; ++i) sum += chain[i];
  if (sum < T(-1)) *unreachable = sum;
}

/// The shortest time of several rounds of enqueue(stream), after one warm-up round.
template <class Enqueue>
double best_seconds(const Stream& stream, Enqueue&& enqueue) {
  const Event begin(Event::Timing::on);
  const Event end(Event::Timing::on);
  double best = 0;
  for (int round = -1; round < kRounds; ++round) {
    begin.record(stream.get());
    enqueue(stream.get());
    end.record(stream.get());
    stream.synchronize();
    const double seconds = end.seconds_since(begin);
    if (round == 0 || seconds < best) best = seconds;
  }
  return best;
}

/// Device memory that has been written to: reads of memory that was never written may behave differently.
Buffer zeroed(std::int64_t bytes, const Stream& stream) {
  Buffer buffer(bytes, device_resource());
  check_cuda(cudaMemsetAsync(buffer.data(), 0, static_cast<std::size_t>(bytes), stream.get()),
             "clearing device memory");
  stream.synchronize();
  return buffer;
}

/// Page-locked memory and device memory for transfers in both directions.
struct Bus {
  explicit Bus(std::int64_t bytes_each)
      : bytes(bytes_each),
        host_source(bytes, pinned_resource()),
        host_target(bytes, pinned_resource()),
        device_target(bytes, device_resource()),
        device_source(zeroed(bytes, Stream())) {}

  void upload(DeviceStream stream) const { transfer(device_target, host_source, stream); }
  void download(DeviceStream stream) const { transfer(host_target, device_source, stream); }

  void transfer(const Buffer& to, const Buffer& from, DeviceStream stream) const {
    for (int i = 0; i < kTransfersPerRound; ++i)
      copy_rows(to.data(), bytes, from.data(), bytes, bytes, 1, stream);
  }
  /// Bytes per direction and round.
  double round_bytes() const { return static_cast<double>(bytes) * kTransfersPerRound; }

  std::int64_t bytes;
  Buffer host_source, host_target, device_target, device_source;
};

void measure_bus(std::int64_t bytes, DeviceRates& limits) {
  const Bus bus(bytes);
  const Stream first;
  const Stream second;
  limits.upload_bytes_per_second =
      bus.round_bytes() / best_seconds(first, [&](DeviceStream stream) { bus.upload(stream); });
  limits.download_bytes_per_second =
      bus.round_bytes() / best_seconds(first, [&](DeviceStream stream) { bus.download(stream); });
  const Event upload_may_start;
  const Event download_done;
  const double duplex_seconds = best_seconds(first, [&](DeviceStream stream) {
    upload_may_start.record(stream);
    upload_may_start.make_stream_wait(second.get());
    bus.upload(stream);
    bus.download(second.get());
    download_done.record(second.get());
    download_done.make_stream_wait(stream);
  });
  limits.duplex_bytes_per_second = bus.round_bytes() / duplex_seconds;
}

double measure_copy(std::int64_t bytes, int multiprocessors) {
  const Stream stream;
  const Buffer from = zeroed(bytes, stream);
  const Buffer to(bytes, device_resource());
  const double engine_seconds = best_seconds(
      stream, [&](DeviceStream on) { copy_rows(to.data(), bytes, from.data(), bytes, bytes, 1, on); });
  const double kernel_seconds = best_seconds(stream, [&](DeviceStream on) {
    copy_wide<<<static_cast<unsigned>(multiprocessors) * 16, kThreads, 0, on>>>(
        reinterpret_cast<const uint4*>(from.data()), reinterpret_cast<uint4*>(to.data()),
        bytes / static_cast<int>(sizeof(uint4)));
    check_cuda(cudaGetLastError(), "launching a copy");
  });
  return 2.0 * static_cast<double>(bytes) / std::min(engine_seconds, kernel_seconds);
}

template <class T>
double measure_fma(int multiprocessors) {
  int resident = 0;
  check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, fma_chains<T>, kThreads, 0),
             "querying the number of resident blocks");
  const int blocks =
      multiprocessors * std::max(resident, 1);  // one full wave: no multiprocessor idles at the end
  const Buffer unreachable(static_cast<std::int64_t>(sizeof(T)), device_resource());
  const Stream stream;
  const double seconds = best_seconds(stream, [&](DeviceStream on) {
    fma_chains<T><<<static_cast<unsigned>(blocks), kThreads, 0, on>>>(
        T(0.5), reinterpret_cast<T*>(unreachable.data()));
    check_cuda(cudaGetLastError(), "launching multiply-adds");
  });
  return static_cast<double>(blocks) * kThreads * kChains * kFmaSteps / seconds;
}

int multiprocessors_of(int device) {
  int count = 0;
  check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
             "querying a device's properties");
  return count;
}

}  // namespace

DeviceRates measure_device_limits(int device, std::int64_t bytes) {
  const DeviceScope scope(device);
  const int multiprocessors = multiprocessors_of(device);
  bytes = std::max(bytes, kMinCopyBytes);
  const std::int64_t quarter = std::max(free_device_memory_bytes(device) / 4, kMinCopyBytes);
  DeviceRates limits;
  // The arithmetic is measured first, because it raises the clocks.
  limits.fma_f32_per_second = measure_fma<float>(multiprocessors);
  limits.fma_f64_per_second = measure_fma<double>(multiprocessors);
  limits.copy_bytes_per_second =
      measure_copy(std::min(kCopyPerBusByte * bytes, quarter) / kAlignment * kAlignment, multiprocessors);
  measure_bus(std::min(bytes, quarter), limits);
  return limits;
}

}  // namespace sepconv::engine
