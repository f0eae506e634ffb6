// Owning handles and checks around the CUDA runtime. Plain C++ that compiles, links and answers "no device"
// also where there is no CUDA toolkit.
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

/// cudaStream_t and cudaEvent_t, without CUDA's headers.
using DeviceStream = CUstream_st*;
using DeviceEvent = CUevent_st*;

/// A CUDA call failed. what() names what was being done and CUDA's own name of the error.
class CudaError : public Error {
 public:
  using Error::Error;
};

/// Returns if `status`, a cudaError_t, is success. Throws OutOfMemory for a failed allocation and CudaError
/// for everything else, and clears CUDA's last error, so that the next check does not report it again.
void check_cuda(int status, const char* what);

/// A GPU as `sepconv devices` shows it.
struct DeviceInfo {
  int index = 0;
  std::string name;
  int compute_capability = 0;  ///< 90 for 9.0
  std::int64_t memory_bytes = 0;
  int copy_engines = 0;
  int multiprocessors = 0;
};

/// Whether this build contains the CUDA engine.
bool built_with_cuda() noexcept;

/// GPUs that can be used now. Empty, never an error, without CUDA, without a driver and without a GPU.
std::vector<DeviceInfo> cuda_devices();

/// Whether this process has used the GPU, so that its context is there. Makes nothing and loads no driver.
bool has_context(int device) noexcept;

/// Device memory that can be had now, in bytes. Creates the device's context. Throws CudaError.
std::int64_t free_device_memory_bytes(int device);

/// Makes a device the calling thread's current one: its allocations, streams and launches go there. Throws
/// CudaError.
void set_current_device(int device);
int current_device();

/// The current device until the end of the scope.
class DeviceScope {
 public:
  explicit DeviceScope(int device) : before_(current_device()) { set_current_device(device); }
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;
  ~DeviceScope();

 private:
  int before_;
};

/// Memory of the calling thread's current device; throws std::bad_alloc, and CudaError if it is not memory
/// that is short. Process-wide and stateless, for Buffer and Arena.
std::pmr::memory_resource* device_resource() noexcept;
/// Page-locked host memory that every device copies to and from at full speed; throws std::bad_alloc.
/// Process-wide.
std::pmr::memory_resource* pinned_resource() noexcept;

/// Copies in stream order between host (page-locked, or the calling thread waits) and device memory, or
/// within the device: `rows` rows of `row_bytes`. The memory must stay valid until the stream has passed the
/// copy.
void copy_rows(void* to, std::int64_t to_pitch_bytes, const void* from, std::int64_t from_pitch_bytes,
               std::int64_t row_bytes, std::int64_t rows, DeviceStream stream);
/// The same of views of the same extent, channels and type.
inline void copy_pixels(const ConstPixelView& from, const PixelView& to, DeviceStream stream) {
  copy_rows(to.data, to.pitch_bytes, from.data, from.pitch_bytes, from.row_bytes(), from.extent.rows, stream);
}

/// Whether work given to the stream is recorded into a CUDA graph instead of being done. Throws CudaError.
bool is_capturing(DeviceStream stream);

/// A stream of the device that is current when it is made, which does not wait for the default stream.
/// Move-only. Destroying it does not wait for its work: whoever owns the memory that the work touches waits
/// first.
class Stream {
 public:
  /// Kernels of a high priority get the processors that others leave before those others' own next blocks.
  enum class Priority : std::uint8_t { normal, high };
  explicit Stream(Priority priority = Priority::normal);
  DeviceStream get() const noexcept { return handle_.get(); }
  /// The calling thread waits for everything enqueued so far. Throws CudaError for a failure of that work.
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
  /// Work enqueued on `stream` from now on waits for the event as it was last recorded; for an event that
  /// never was it does not wait.
  void wait_in(DeviceStream stream) const;
  /// The calling thread waits, asleep but for a look every few ten microseconds; at once for an event that
  /// was never recorded.
  void synchronize() const;
  /// From `earlier` to this: both made with timing, recorded and passed.
  double seconds_since(const Event& earlier) const;

 private:
  struct Destroy {
    void operator()(DeviceEvent event) const noexcept;
  };
  std::unique_ptr<CUevent_st, Destroy> handle_;
};

}  // namespace sepconv
