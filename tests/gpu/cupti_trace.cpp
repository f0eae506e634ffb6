#include "cupti_trace.hpp"

#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <stdexcept>

namespace sepconv::test {
namespace {

// The record types of this version of CUPTI.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using MemcpyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using MemcpyRecord = CUpti_ActivityMemcpy5;
#endif

constexpr std::size_t kBufferBytes = 4 << 20;

/// Function pointers into libcupti.
struct Functions {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetTimestamp) get_timestamp = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records = nullptr;
};

/// A record with CUPTI's timestamps, in ns.
struct RawRecord {
  ActivityRecord record;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// State of CUPTI's callbacks, which get no user pointer.
Functions cupti;
std::mutex mutex;
std::vector<RawRecord> raw_records;
std::size_t dropped = 0;

void check(CUptiResult result, const char* what) {
  if (result == CUPTI_SUCCESS) return;
  const char* text = "unknown error";
  cupti.get_result_string(result, &text);
  throw std::runtime_error(fmt::format("{} failed: {}", what, text));
}

void* open_library() {
  for (const char* name : {SEPCONV_CUPTI_NAME, "/usr/local/cuda/extras/CUPTI/lib64/" SEPCONV_CUPTI_NAME,
                           "/usr/local/cuda/lib64/" SEPCONV_CUPTI_NAME,
                           "/usr/local/cuda/targets/x86_64-linux/lib/" SEPCONV_CUPTI_NAME}) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

bool look_up_all(void* library) {
  return look_up(library, "cuptiGetVersion", cupti.get_version) &&
         look_up(library, "cuptiGetTimestamp", cupti.get_timestamp) &&
         look_up(library, "cuptiGetResultString", cupti.get_result_string) &&
         look_up(library, "cuptiActivityEnable", cupti.enable) &&
         look_up(library, "cuptiActivityDisable", cupti.disable) &&
         look_up(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
         look_up(library, "cuptiActivityFlushAll", cupti.flush_all) &&
         look_up(library, "cuptiActivityGetNextRecord", cupti.next_record) &&
         look_up(library, "cuptiActivityGetNumDroppedRecords", cupti.dropped_records);
}

void add_copy(const MemcpyRecord& copy) {
  RawRecord raw{{}, copy.start, copy.end};
  raw.record.bytes = static_cast<std::int64_t>(copy.bytes);
  switch (copy.copyKind) {
    case CUPTI_ACTIVITY_MEMCPY_KIND_HTOD:
      raw.record.activity = Activity::host_to_device;
      raw.record.page_locked = copy.srcKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
      break;
    case CUPTI_ACTIVITY_MEMCPY_KIND_DTOH:
      raw.record.activity = Activity::device_to_host;
      raw.record.page_locked = copy.dstKind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
      break;
    default:
      raw.record.activity = Activity::on_device;
  }
  raw_records.push_back(std::move(raw));
}

void add_kernel(const KernelRecord& kernel) {
  RawRecord raw{{}, kernel.start, kernel.end};
  raw.record.name = kernel.name != nullptr ? kernel.name : "";
  raw_records.push_back(std::move(raw));
}

void CUPTIAPI buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *bytes = *buffer != nullptr ? kBufferBytes : 0;
  *max_records = 0;
}

void CUPTIAPI buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer, std::size_t,
                               std::size_t valid_bytes) {
  const std::scoped_lock lock(mutex);
  CUpti_Activity* record = nullptr;
  while (valid_bytes > 0 && cupti.next_record(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) add_copy(*reinterpret_cast<const MemcpyRecord*>(record));
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      add_kernel(*reinterpret_cast<const KernelRecord*>(record));
    }
  }
  std::size_t lost = 0;
  if (cupti.dropped_records(context, stream, &lost) == CUPTI_SUCCESS) dropped += lost;
  std::free(buffer);
}

std::int64_t steady_ns() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

CuptiTrace::CuptiTrace() {
  void* const library = open_library();
  if (library == nullptr || !look_up_all(library)) {
    problem_ = std::string("no usable " SEPCONV_CUPTI_NAME
                           "; it is part of the CUDA toolkit: put its folder into LD_LIBRARY_PATH");
    return;
  }
  std::uint32_t version = 0;
  cupti.get_version(&version);
  if (version != CUPTI_API_VERSION) {
    problem_ = fmt::format(
        "{} has version {} but this program was built for {}, whose records are laid out differently",
        SEPCONV_CUPTI_NAME, version, CUPTI_API_VERSION);
  }
}

CuptiTrace::ClockReading CuptiTrace::read_clocks() const {
  ClockReading best{0, 0, std::numeric_limits<std::int64_t>::max()};
  for (int reading = 0; reading < 200; ++reading) {
    std::uint64_t time = 0;
    const std::int64_t before = steady_ns();
    check(cupti.get_timestamp(&time), "reading CUPTI's clock");
    const std::int64_t after = steady_ns();
    if (after - before < best.duration_ns) {
      best = {before + (after - before) / 2, static_cast<std::int64_t>(time), after - before};
    }
  }
  return best;
}

void CuptiTrace::start() {
  check(cupti.register_callbacks(buffer_requested, buffer_completed), "registering CUPTI's callbacks");
  check(cupti.enable(CUPTI_ACTIVITY_KIND_MEMCPY), "recording copies");
  check(cupti.enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "recording kernels");
  first_ = read_clocks();
}

void CuptiTrace::stop() {
  last_ = read_clocks();
  check(cupti.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "collecting CUPTI's records");
  check(cupti.disable(CUPTI_ACTIVITY_KIND_MEMCPY), "ending the record of copies");
  check(cupti.disable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), "ending the record of kernels");
}

std::vector<ActivityRecord> CuptiTrace::records(std::chrono::steady_clock::time_point origin) const {
  const std::scoped_lock lock(mutex);
  if (dropped > 0) throw std::runtime_error(fmt::format("CUPTI dropped {} records", dropped));
  // The two clocks run at slightly different rates: linear interpolation between the two readings.
  const double rate =
      static_cast<double>(last_.steady - first_.steady) / static_cast<double>(last_.cupti - first_.cupti);
  const std::int64_t origin_ns = std::chrono::nanoseconds(origin.time_since_epoch()).count();
  const auto seconds = [&](std::uint64_t time) {
    const double since_first = static_cast<double>(static_cast<std::int64_t>(time) - first_.cupti) * rate;
    return (static_cast<double>(first_.steady - origin_ns) + since_first) * 1e-9;
  };
  std::vector<ActivityRecord> result;
  for (const RawRecord& raw : raw_records) {
    result.push_back(raw.record);
    result.back().begin = seconds(raw.begin);
    result.back().end = seconds(raw.end);
  }
  return result;
}

double CuptiTrace::drift_seconds() const {
  return static_cast<double>((last_.steady - first_.steady) - (last_.cupti - first_.cupti)) * 1e-9;
}

double CuptiTrace::reading_seconds() const {
  return static_cast<double>(std::max(first_.duration_ns, last_.duration_ns)) * 1e-9;
}

}  // namespace sepconv::test
