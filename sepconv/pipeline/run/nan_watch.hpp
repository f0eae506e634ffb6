// Whether a source holds NaN that a chain spreads: known only when the pixels are read. Internal to run().
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "sepconv/core/executor.hpp"
#include "sepconv/io/reader.hpp"
#include "sepconv/pipeline/chain/chain.hpp"

namespace sepconv {

/// In images of floating point NaN often stands for a missing pixel; a stage that works on neighbours makes
/// them missing too. Both runners show it what they read.
class NanWatch {
 public:
  /// Looks at nothing where NaN cannot be or is not spread, nor where the source's metadata call it missing:
  /// the plan warns of that.
  NanWatch(const Reader& source, const Chain& chain);

  /// From any thread. Looks no further once it has found one.
  void look(const ConstPixelView& pixels, Executor& executor);
  /// What to say of what it saw.
  std::vector<std::string> warnings() const;

 private:
  bool looks_;
  std::atomic<bool> found_ = false;
};

}  // namespace sepconv
