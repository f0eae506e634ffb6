// How much of a result its type does not hold, by samples of what it was before it was rounded. Internal to
// run().
#pragma once

#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "sepconv/core/worker.hpp"
#include "sepconv/pipeline/plan/clipping.hpp"
#include "sepconv/pipeline/plan/plan.hpp"

namespace sepconv {

class ClipWatch {
 public:
  ClipWatch(const Reader& source, const Writer& sink, const Plan& plan);

  /// Parts of a band to look at: all of a small image, else 32 x 32 pixels here and there, which take at most
  /// a sixteenth of the run's work; none where the type holds all that the chain can make.
  std::vector<Rect> samples(const Plan& plan, const Rect& band) const;
  /// From any thread: computes one once more, in the arena of a worker. `chain` is the plan's, with its
  /// second images; `source` holds what it needs.
  void look(const Plan& plan, const Chain& chain, const ConstRegion& source, const Rect& sample,
            Worker& worker);
  /// What to say of what was seen.
  std::vector<std::string> warnings() const;

 private:
  struct Seen {
    double count = 0, below = 0, above = 0;
    double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
    void add(const Seen& other);
  };
  template <class A>
  Seen seen_in(const std::vector<A>& values) const;
  std::string share_warning() const;

  std::optional<Clipping> clipping_;
  mutable std::mutex mutex_;
  Seen seen_;
};

}  // namespace sepconv
