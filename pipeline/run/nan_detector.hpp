// Whether a source holds NaN that a chain spreads: known only when the pixels are read. Internal to run().
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/executor.hpp"
#include "io/reader.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// In images of floating point NaN often stands for a missing pixel; a stage that works on neighbours makes
/// them missing too. The CPU's runner shows it what was read; on a GPU a kernel looks at what has come there.
class NanDetector {
 public:
  /// What NaN in the source is.
  enum class Meaning : std::uint8_t {
    settled,      ///< it cannot be, is not spread, is what is declared to be missing, or stages say what they
                  ///< make of it: nothing is looked at
    a_value,      ///< one that is computed with
    missing_too,  ///< besides another that is declared to be
  };

  NanDetector(const Reader& source, const Chain& chain);

  /// From any thread, these three. Whether it is still to be looked: no further, once one is found.
  bool looks() const noexcept {
    return meaning_ != Meaning::settled && !found_.load(std::memory_order_relaxed);
  }
  void find() noexcept { found_.store(true, std::memory_order_relaxed); }
  /// At pixels in the host's memory.
  void look(const ConstPixelView& pixels, Executor& executor);
  /// What to say of what it saw.
  std::vector<std::string> warnings() const;

 private:
  Meaning meaning_;
  std::atomic<bool> found_ = false;
};

}  // namespace sepconv
