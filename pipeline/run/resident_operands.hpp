// The second images of a chain's stages, resident in memory. Internal to the runners.
#pragma once

#include <vector>

#include "core/executor.hpp"
#include "core/memory.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// The parts of the second images that a part of a chain's result needs; the constructor reads them.
class ResidentOperands {
 public:
  /// Reads the parts needed for `output` of the result to host memory. Throws IoError, InvalidArgument and
  /// OutOfMemory.
  ResidentOperands(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output,
                   Executor& executor);

  /// A copy on the current device, made in stream order; this object must outlive the copying. Throws
  /// OutOfMemory and DeviceError.
  ResidentOperands on_device(DeviceStream stream) const;

  bool empty() const noexcept { return regions_.empty(); }
  std::int64_t bytes() const noexcept;
  /// `chain`, or its variant for a device or for nodata, with these images bound; they must outlive it.
  Chain bound(const Chain& chain) const;

 private:
  ResidentOperands() = default;
  Region allocate(const ImageSpec& spec, const Rect& rect, std::pmr::memory_resource* memory);

  std::vector<Buffer> buffers_;
  std::vector<Region> regions_;
};

}  // namespace sepconv
