// A GPU made of threads, for tests of the engine's order: every stream is a thread that runs what was
// enqueued, late by random delays, and memory is the host's. It takes the place of sepconv/kernels/cuda/ and
// of the launchers at link time, so the engine under test is the real one, on any machine and under the
// thread sanitizer, which sees an access that no event orders as a race. What it cannot show is anything
// about CUDA itself: that is what the same tests on a GPU are for.
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

#include "sepconv/core/memory.hpp"
#include "sepconv/kernels/cuda/copy_rows_by_kernel.hpp"
#include "sepconv/kernels/cuda/device_limits.hpp"
#include "sepconv/kernels/cuda/profiler_range.hpp"
#include "simulated_gpu.hpp"

using Clock = std::chrono::steady_clock;

/// A stream: a queue of work and the thread that does it.
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
      if (tasks.empty()) return;  // stopped, and nothing left
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
  std::jthread thread;  // last: the others must be there when it starts
};

/// One recording of an event: passed or not, and when.
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
    // Poison: what is read before it is written shows in the result.
    return std::memset(std::pmr::new_delete_resource()->allocate(bytes, alignment), 0xa5, bytes);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

void simulated::enqueue(DeviceStream stream, std::function<void()> task) { stream->enqueue(std::move(task)); }

void check_cuda(int, const char*) {}
bool built_with_cuda() noexcept { return true; }
std::vector<DeviceInfo> cuda_devices() {
  return {{.index = 0, .name = "simulated GPU"}, {.index = 1, .name = "simulated GPU"}};
}
std::int64_t free_device_memory_bytes(int) { return std::int64_t{1} << 30; }
void set_current_device(int device) { device_of_thread = device; }
int current_device() { return device_of_thread; }
bool is_capturing(DeviceStream) { return false; }
DeviceScope::~DeviceScope() { device_of_thread = before_; }

std::pmr::memory_resource* device_resource() noexcept {
  static CountedResource resource;
  return &resource;
}
std::pmr::memory_resource* pinned_resource() noexcept {
  static CountedResource resource;
  return &resource;
}

void copy_rows(void* to, std::int64_t to_pitch_bytes, const void* from, std::int64_t from_pitch_bytes,
               std::int64_t row_bytes, std::int64_t rows, DeviceStream stream) {
  stream->enqueue([=] {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::memcpy(static_cast<std::byte*>(to) + row * to_pitch_bytes,
                  static_cast<const std::byte*>(from) + row * from_pitch_bytes,
                  static_cast<std::size_t>(row_bytes));
    }
  });
}

void copy_rows_by_kernel(void* to, std::int64_t to_pitch_bytes, const void* from,
                         std::int64_t from_pitch_bytes, std::int64_t row_bytes, std::int64_t rows,
                         DeviceStream stream) {
  copy_rows(to, to_pitch_bytes, from, from_pitch_bytes, row_bytes, rows, stream);
}

Stream::Stream(Priority) {
  static std::atomic<std::uint64_t> made = 0;
  handle_.reset(new CUstream_st(made++));
}
void Stream::synchronize() const { handle_->synchronize(); }
void Stream::Destroy::operator()(DeviceStream stream) const noexcept { delete stream; }

Event::Event(Timing) { handle_.reset(new CUevent_st); }
void Event::record(DeviceStream stream) const {
  const auto recording = std::make_shared<Recording>();
  {
    const std::scoped_lock lock(handle_->mutex);
    handle_->last = recording;
  }
  stream->enqueue([recording] { recording->pass(); });
}
void Event::wait_in(DeviceStream stream) const {
  if (const auto recording = handle_->get()) stream->enqueue([recording] { recording->wait(); });
}
void Event::synchronize() const {
  if (const auto recording = handle_->get()) recording->wait();
}
double Event::seconds_since(const Event& earlier) const {
  return std::chrono::duration<double>(handle_->get()->at - earlier.handle_->get()->at).count();
}
void Event::Destroy::operator()(DeviceEvent event) const noexcept { delete event; }

ProfilerRange::ProfilerRange(const char*, std::int64_t) noexcept {}
ProfilerRange::~ProfilerRange() = default;

DeviceLimits measure_device_limits(int, std::int64_t) { return {1e9, 1e9, 1e9, 1e9, 1e9, 1e9}; }

}  // namespace sepconv
