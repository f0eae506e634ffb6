// How many values a type that they are rounded to does not hold, by samples of what they were before.
// Internal to run().
#pragma once

#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "core/worker.hpp"
#include "pipeline/plan/clipping.hpp"
#include "pipeline/plan/plan.hpp"

namespace sepconv {

class ClippingSamples {
 public:
  ClippingSamples(const Reader& source, const Writer& sink, const Plan& plan);

  /// Parts of a band to look at: all of a small image, else 32 x 32 pixels here and there, which take at most
  /// a sixteenth of the run's work; none where the types hold all that the chain can make.
  std::vector<Rect> samples(const Plan& plan, const Rect& band) const;
  /// From any thread: computes one once more, in the arena of a worker. `chain` is the plan's, with its
  /// second images; `source` holds what it needs.
  void look(const Plan& plan, const Chain& chain, const ConstRegion& source, const Rect& sample,
            Worker& worker);
  /// What to say of what was seen.
  std::vector<std::string> warnings() const;

 private:
  struct Seen {
    double count = 0, fractions = 0, below = 0, above = 0;
    double least = std::numeric_limits<double>::infinity(), most = -std::numeric_limits<double>::infinity();
    void add(double value, const ValueRange& held);
    void add(const Seen& other);
  };
  struct Watched {
    Clipping clipping;
    Seen seen{}, alpha{};
  };
  /// The part of what this place rounds that a sample of the result is made of, at most as large as that.
  static Rect part_of(const Watched& watched, const Plan& plan, const Chain& chain, const Rect& sample);
  /// Most of them have fractions, and their range is a few numbers.
  static bool is_of_fractions(const Seen& seen);
  static std::string alpha_warning(const Watched& watched);
  static std::string share_warning(const Watched& watched);
  static std::string warning(const Watched& watched);

  std::vector<Watched> watched_;
  double sample_operations_ = 0;  ///< for one sample, at all places
  mutable std::mutex mutex_;
};

}  // namespace sepconv
