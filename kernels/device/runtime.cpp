// The public functions of the runtime, through the installed backend.
#include "kernels/device/runtime.hpp"

#include "kernels/device/backend.hpp"
#include "kernels/device/profiler_range.hpp"

namespace sepconv {

#if SEPCONV_HAS_CUDA
extern const DeviceBackend cuda_engine;  // cuda_backend.cpp
#endif

namespace {

#if SEPCONV_HAS_CUDA
constinit const DeviceBackend* in_use = &cuda_engine;
#else
constinit const DeviceBackend* in_use = nullptr;
#endif

}  // namespace

void install_device_backend(const DeviceBackend& backend) noexcept { in_use = &backend; }
const DeviceBackend* find_device_backend() noexcept { return in_use; }
const DeviceBackend& device_backend() {
  if (in_use == nullptr)
    throw DeviceError("this build has no CUDA engine; build it where a CUDA toolkit is installed");
  return *in_use;
}

std::vector<DeviceInfo> list_devices() {
  return in_use == nullptr ? std::vector<DeviceInfo>{} : in_use->devices();
}
bool has_context(int device) noexcept { return in_use != nullptr && in_use->has_context(device); }
std::int64_t free_device_memory_bytes(int device) { return device_backend().free_memory_bytes(device); }
void set_current_device(int device) { device_backend().set_current_device(device); }
int current_device() { return device_backend().current_device(); }
DeviceScope::~DeviceScope() {
  try {
    set_current_device(before_);
  } catch (const Error&) {  // a faulty device reports its error at the next call
  }
}

std::pmr::memory_resource* device_resource() noexcept {
  return in_use == nullptr ? std::pmr::null_memory_resource() : in_use->device_resource();
}
std::pmr::memory_resource* pinned_resource() noexcept {
  return in_use == nullptr ? std::pmr::null_memory_resource() : in_use->pinned_resource();
}

void copy_rows(void* to, std::int64_t to_pitch_bytes, const void* from, std::int64_t from_pitch_bytes,
               std::int64_t row_bytes, std::int64_t rows, DeviceStream stream) {
  if (rows <= 0 || row_bytes <= 0) return;
  device_backend().copy_rows(to, to_pitch_bytes, from, from_pitch_bytes, row_bytes, rows, stream);
}
void copy_rows_by_kernel(void* to, std::int64_t to_pitch_bytes, const void* from,
                         std::int64_t from_pitch_bytes, std::int64_t row_bytes, std::int64_t rows,
                         DeviceStream stream) {
  if (rows <= 0 || row_bytes <= 0) return;
  const DeviceBackend& backend = device_backend();
  const auto& copy =
      backend.copy_rows_by_kernel != nullptr ? *backend.copy_rows_by_kernel : backend.copy_rows;
  copy(to, to_pitch_bytes, from, from_pitch_bytes, row_bytes, rows, stream);
}

bool is_capturing(DeviceStream stream) {
  const DeviceBackend& backend = device_backend();
  return backend.is_capturing != nullptr && backend.is_capturing(stream);
}
DeviceRates measure_device_limits(int device, std::int64_t bytes) {
  return device_backend().measure_limits(device, bytes);
}

Stream::Stream(Priority priority) : handle_(device_backend().make_stream(priority)) {}
void Stream::synchronize() const { in_use->synchronize_stream(get()); }
void Stream::Destroy::operator()(DeviceStream stream) const noexcept { in_use->destroy_stream(stream); }

Event::Event(Timing timing) : handle_(device_backend().make_event(timing)) {}
void Event::record(DeviceStream stream) const { in_use->record(handle_.get(), stream); }
void Event::make_stream_wait(DeviceStream stream) const { in_use->make_stream_wait(handle_.get(), stream); }
void Event::synchronize() const { in_use->synchronize_event(handle_.get()); }
double Event::seconds_since(const Event& earlier) const {
  return in_use->seconds_between(earlier.handle_.get(), handle_.get());
}
void Event::Destroy::operator()(DeviceEvent event) const noexcept { in_use->destroy_event(event); }

ProfilerRange::ProfilerRange(const char* name, std::int64_t band) noexcept {
  if (in_use != nullptr && in_use->profiler_ranges) in_use->profiler_ranges->begin(name, band);
}
ProfilerRange::~ProfilerRange() {
  if (in_use != nullptr && in_use->profiler_ranges) in_use->profiler_ranges->end();
}

}  // namespace sepconv
