// The second images of a chain's stages, held for as long as something is computed in memory. Internal to the
// runners.
#pragma once

#include <vector>

#include "core/executor.hpp"
#include "core/memory.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// What parts of a chain's result need of them, read when it is made.
class ResidentOperands {
 public:
  /// For what `output` of the result needs, in host memory. Throws IoError, InvalidArgument and OutOfMemory.
  ResidentOperands(const Chain& chain, const std::vector<ImageSpec>& specs, const Rect& output,
                   Executor& executor);

  /// The same on the current device, copied there in the order of `stream`, before which this is to live on.
  /// Throws OutOfMemory and CudaError.
  ResidentOperands on_device(DeviceStream stream) const;

  bool empty() const noexcept { return regions_.empty(); }
  std::int64_t bytes() const noexcept;
  /// `chain`, or what on_device() or honouring() made of it, with these pixels, which outlive it.
  Chain bound(const Chain& chain) const;

 private:
  ResidentOperands() = default;
  Region hold(const ImageSpec& spec, const Rect& rect, std::pmr::memory_resource* memory);

  std::vector<Buffer> buffers_;
  std::vector<Region> regions_;
};

}  // namespace sepconv
