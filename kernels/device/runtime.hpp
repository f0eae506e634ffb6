// Devices, their memory, streams and events. Plain C++ that also compiles and links without a CUDA toolkit, and
// then reports no devices.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/image.hpp"

struct CUstream_st;
struct CUevent_st;

namespace sepconv {

/// A stream and an event of the backend, which alone dereferences them. For CUDA: cudaStream_t and cudaEvent_t,
/// without CUDA's headers.
using DeviceStream = CUstream_st*;
using DeviceEvent = CUevent_st*;

/// Work on a device failed. what() names the action and the backend's name of the error.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Returns if `status`, a cudaError_t, is success. Otherwise throws OutOfMemory for a failed allocation and
/// DeviceError for any other error, and clears CUDA's last error, so that the next check does not report it
/// again. Only in builds with CUDA.
void check_cuda(int status, const char* what);

/// Properties of a GPU, as printed by `sepconv devices`.
struct DeviceInfo {
  int index = 0;
  std::string name;
  int compute_capability = 0;  ///< 90 for 9.0
  std::int64_t memory_bytes = 0;
  int copy_engines = 0;
  int multiprocessors = 0;
};

/// The usable devices. Empty, never an error, without a backend, without a driver and without a device.
std::vector<DeviceInfo> list_devices();

/// Whether this process has a context on the GPU. Does not create one and does not load the driver.
bool has_context(int device) noexcept;

/// Free device memory in bytes. Creates the device's context. Throws DeviceError.
std::int64_t free_device_memory_bytes(int device);

/// Makes a device the current one of the calling thread, for its allocations, streams and launches. Throws
/// DeviceError.
void set_current_device(int device);
int current_device();

/// Sets the current device until the end of the scope.
class DeviceScope {
 public:
  explicit DeviceScope(int device) : before_(current_device()) { set_current_device(device); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope();

 private:
  int before_;
};

/// Memory of the calling thread's current device. Throws std::bad_alloc if memory is exhausted, DeviceError for
/// other errors. Process-wide and stateless, for Buffer and Arena.
std::pmr::memory_resource* device_resource() noexcept;
/// Page-locked host memory that every device copies to and from at full speed; throws std::bad_alloc.
/// Process-wide.
std::pmr::memory_resource* pinned_resource() noexcept;

/// Copies in stream order between host (page-locked, or the calling thread waits) and device memory, or
/// within the device: `rows` rows of `row_bytes`. The memory must stay valid until the stream has executed
/// the copy.
void copy_rows(void* to, std::int64_t to_pitch_bytes, const void* from, std::int64_t from_pitch_bytes,
               std::int64_t row_bytes, std::int64_t rows, DeviceStream stream);
/// The same for views of the same extent, channels and type.
inline void copy_pixels(const ConstPixelView& from, const PixelView& to, DeviceStream stream) {
  copy_rows(to.data, to.pitch_bytes, from.data, from.pitch_bytes, from.row_bytes(), from.extent.rows, stream);
}

/// Whether the stream is being captured into a CUDA graph. Throws DeviceError.
bool is_capturing(DeviceStream stream);

/// A stream of the device that is current at construction. It does not synchronize with the default stream.
/// Move-only. The destructor does not wait for the stream's work: the owner of the memory that the work uses
/// must wait first.
class Stream {
 public:
  /// Blocks of high-priority kernels are scheduled on free multiprocessors before pending blocks of other
  /// kernels.
  enum class Priority : std::uint8_t { normal, high };
  explicit Stream(Priority priority = Priority::normal);
  DeviceStream get() const noexcept { return handle_.get(); }
  /// Blocks until everything enqueued so far has finished. Throws DeviceError for a failure of that work.
  void synchronize() const;

 private:
  struct Destroy {
    void operator()(DeviceStream stream) const noexcept;
  };
  std::unique_ptr<CUstream_st, Destroy> handle_;
};

/// A point in a stream's work. Move-only.
class Event {
 public:
  enum class Timing : std::uint8_t { off, on };
  explicit Event(Timing timing = Timing::off);

  void record(DeviceStream stream) const;
  /// Work enqueued on `stream` after this call waits for the last recorded event; it does not wait if the
  /// event was never recorded.
  void make_stream_wait(DeviceStream stream) const;
  /// Blocks until the event has occurred, polling every few ten microseconds; returns immediately for an
  /// event that was never recorded.
  void synchronize() const;
  /// Time from `earlier` to this event. Both must have been created with timing, and have been recorded and
  /// reached.
  double seconds_since(const Event& earlier) const;

 private:
  struct Destroy {
    void operator()(DeviceEvent event) const noexcept;
  };
  std::unique_ptr<CUevent_st, Destroy> handle_;
};

}  // namespace sepconv
