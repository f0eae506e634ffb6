// Detects NaN in a source that a chain spreads to neighbouring pixels. Internal to run().
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/executor.hpp"
#include "io/reader.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// In floating-point images NaN often marks a missing pixel; a neighbourhood stage spreads it. Each read band
/// is passed to inspect(), or a kernel of the GPU searches it after the upload.
class NanDetector {
 public:
  /// The meaning of NaN in the source.
  enum class Meaning : std::uint8_t {
    harmless,     ///< NaN is impossible, is not spread, is the declared nodata value, or is handled by stages
    plain_value,  ///< NaN is used in arithmetic
    also_missing,  ///< NaN counts as missing, as the declared nodata value does
  };

  NanDetector(const Reader& source, const Chain& chain);

  /// Whether pixels still have to be inspected: false once NaN is found. This and the next two are
  /// thread-safe.
  bool is_active() const noexcept {
    return meaning_ != Meaning::harmless && !found_.load(std::memory_order_relaxed);
  }
  void set_found() noexcept { found_.store(true, std::memory_order_relaxed); }
  /// Searches pixels in host memory.
  void inspect(const ConstPixelView& pixels, Executor& executor);
  /// A warning if NaN was found.
  std::vector<std::string> warnings() const;

 private:
  Meaning meaning_;
  std::atomic<bool> found_ = false;
};

}  // namespace sepconv
