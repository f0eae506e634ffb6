// Named ranges of host work for NVIDIA's profilers.
#pragma once

#include <cstdint>

namespace sepconv {

/// A range of the calling thread's time, from construction to destruction, in the NVTX domain "sepconv":
/// Nsight Systems draws it as a bar `name`, coloured per step of the pipeline (read, upload, compute,
/// download, write; grey for other names), with the band's index as its payload. Costs a few nanoseconds if
/// no profiler is attached, and nothing in a build without a CUDA toolkit.
///
///   const ProfilerRange range("upload", index);
///
/// Ranges of one thread nest. `name` is copied by the profiler and must be valid only during the constructor.
class ProfilerRange {
 public:
  ProfilerRange(const char* name, std::int64_t band) noexcept;
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
  ~ProfilerRange();
};

}  // namespace sepconv
