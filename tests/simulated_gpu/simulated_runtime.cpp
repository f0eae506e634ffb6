// A simulated GPU made of threads, for tests of the engine's ordering. Every stream is a thread that runs the
// enqueued tasks after random delays, and device memory is host memory. It implements the same backend
// interface (kernels/device/backend.hpp) as the CUDA engine, so the tests run the real pipeline on any machine
// and under the thread sanitizer, which reports accesses that no event orders as races. It cannot test CUDA
// itself; the same tests on a GPU do that.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "core/memory.hpp"
#include "simulated_gpu.hpp"

using Clock = std::chrono::steady_clock;

/// A stream: a queue of tasks and the thread that runs them.
struct CUstream_st {
  explicit CUstream_st(std::uint64_t seed)
      : random(seed), thread([this](std::stop_token stop) { work(stop); }) {}
  ~CUstream_st() {
    thread.request_stop();
    changed.notify_all();
  }

  void enqueue(std::function<void()> task) {
    {
      const std::scoped_lock lock(mutex);
      tasks.push_back(std::move(task));
    }
    changed.notify_all();
  }

  void synchronize() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return tasks.empty() && !busy; });
  }

  void work(std::stop_token stop) {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, stop, [this] { return !tasks.empty(); });
      if (tasks.empty()) return;  // stopped, and the queue is empty
      const std::function<void()> task = std::move(tasks.front());
      tasks.pop_front();
      busy = true;
      lock.unlock();
      if (random() % 4 == 0) std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
      task();
      lock.lock();
      busy = false;
      changed.notify_all();
    }
  }

  std::mutex mutex;
  std::condition_variable_any changed;
  std::deque<std::function<void()>> tasks;
  bool busy = false;
  std::mt19937_64 random;
  std::jthread thread;  // last: the other members must exist when it starts
};

/// One recording of an event: whether and when it has passed.
struct Recording {
  std::mutex mutex;
  std::condition_variable changed;
  bool passed = false;
  Clock::time_point at;

  void pass() {
    {
      const std::scoped_lock lock(mutex);
      passed = true;
      at = Clock::now();
    }
    changed.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return passed; });
  }
};

struct CUevent_st {
  std::mutex mutex;
  std::shared_ptr<Recording> last;  // null: never recorded

  std::shared_ptr<Recording> get() {
    const std::scoped_lock lock(mutex);
    return last;
  }
};

namespace sepconv {
namespace {

thread_local int device_of_thread = 0;

class CountedResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    // Poison: reads of uninitialised memory show in the result.
    return std::memset(std::pmr::new_delete_resource()->allocate(bytes, alignment), 0xa5, bytes);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

std::vector<DeviceInfo> devices() {
  constexpr std::int64_t kMemoryBytes = std::int64_t{1} << 30;
  return {{.index = 0, .name = "simulated GPU", .memory_bytes = kMemoryBytes},
          {.index = 1, .name = "simulated GPU", .memory_bytes = kMemoryBytes}};
}
std::int64_t free_memory_bytes(int) { return std::int64_t{1} << 30; }
bool context_exists(int) noexcept { return simulated::context_created; }
void choose_device(int device) {
  device_of_thread = device;
  simulated::context_created = true;
}
int chosen_device() { return device_of_thread; }

std::pmr::memory_resource* memory_of_device() noexcept {
  static CountedResource resource;
  return &resource;
}
std::pmr::memory_resource* pinned_memory() noexcept {
  static CountedResource resource;
  return &resource;
}

void copy(void* to, std::int64_t to_pitch_bytes, const void* from, std::int64_t from_pitch_bytes,
          std::int64_t row_bytes, std::int64_t rows, DeviceStream stream) {
  stream->enqueue([=] {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<std::byte*>(to) + row * to_pitch_bytes,
                  static_cast<const std::byte*>(from) + row * from_pitch_bytes,
                  static_cast<std::size_t>(row_bytes));
    }
  });
}

DeviceStream make_stream(Stream::Priority) {
  static std::atomic<std::uint64_t> stream_count = 0;
  return new CUstream_st(stream_count++);
}
void synchronize_stream(DeviceStream stream) { stream->synchronize(); }
void destroy_stream(DeviceStream stream) noexcept { delete stream; }

DeviceEvent make_event(Event::Timing) { return new CUevent_st; }
void record(DeviceEvent event, DeviceStream stream) {
  const auto recording = std::make_shared<Recording>();
  {
    const std::scoped_lock lock(event->mutex);
    event->last = recording;
  }
  stream->enqueue([recording] { recording->pass(); });
}
void make_stream_wait(DeviceEvent event, DeviceStream stream) {
  if (const auto recording = event->get()) stream->enqueue([recording] { recording->wait(); });
}
void synchronize_event(DeviceEvent event) {
  if (const auto recording = event->get()) recording->wait();
}
double seconds_between(DeviceEvent earlier, DeviceEvent later) {
  return std::chrono::duration<double>(later->get()->at - earlier->get()->at).count();
}
void destroy_event(DeviceEvent event) noexcept { delete event; }

DeviceRates limits(int, std::int64_t) { return {1e9, 1e9, 1e9, 1e9, 1e9, 1e9}; }

}  // namespace

std::atomic<bool> simulated::context_created = true;

void simulated::enqueue(DeviceStream stream, std::function<void()> task) { stream->enqueue(std::move(task)); }

constexpr DeviceBackend simulated::gpu{
    .name = "simulated GPU",
    .devices = devices,
    .free_memory_bytes = free_memory_bytes,
    .has_context = context_exists,
    .set_current_device = choose_device,
    .current_device = chosen_device,
    .device_resource = memory_of_device,
    .pinned_resource = pinned_memory,
    .copy_rows = copy,
    .measure_limits = limits,
    .make_stream = make_stream,
    .synchronize_stream = synchronize_stream,
    .destroy_stream = destroy_stream,
    .make_event = make_event,
    .record = record,
    .make_stream_wait = make_stream_wait,
    .synchronize_event = synchronize_event,
    .seconds_between = seconds_between,
    .destroy_event = destroy_event,
    .pointwise = simulated::pointwise,
    .convolve = simulated::convolve,
    .convolve_bytes = simulated::convolve_bytes,
    .convolve_fits = simulated::convolve_fits,
    .mix_channels = simulated::mix_channels,
    .alpha = {{simulated::alpha, simulated::keep_alpha}},
    .find_nan = simulated::find_nan,
    .resample = simulated::resample,
    .ranks = {{simulated::order, simulated::rank_bytes}},
    .window = simulated::window,
    .disk = simulated::window,
    .deviation = simulated::deviation,
    .transpose = simulated::transpose,
    .exact_gemm = simulated::exact_gemm,
    .products = {{simulated::gemm, simulated::prepare_gemm, simulated::gemm_library}}};

}  // namespace sepconv
