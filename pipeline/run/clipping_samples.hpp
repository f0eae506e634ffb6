// Estimates by sampling how many values are clipped when they are rounded to a type. Internal to run().
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

  /// Rectangles of a band to sample: all of a small image, else some of 32 x 32 pixels, with at most a
  /// sixteenth of the run's work. Empty if no clipping is possible.
  std::vector<Rect> samples(const Plan& plan, const Rect& band) const;
  /// Computes a sample again without rounding, in the arena of a worker, and counts clipped values. `chain`
  /// is the plan's, with its second images bound; `source` contains its input. Thread-safe.
  void count_clipped(const Plan& plan, const Chain& chain, const ConstRegion& source, const Rect& sample,
                     Worker& worker);
  /// Warnings about the clipped values found.
  std::vector<std::string> warnings() const;

 private:
  struct Statistics {
    double count = 0, fractions = 0, below = 0, above = 0;
    double minimum = std::numeric_limits<double>::infinity(),
           maximum = -std::numeric_limits<double>::infinity();
    void add(double value, const ValueRange& held);
    void add(const Statistics& other);
  };
  struct Watched {
    Clipping clipping;
    Statistics values_seen{}, alpha{};
  };
  /// The part of the clipped image that a sample of the result depends on, at most as large as the sample.
  static Rect sampled_part(const Watched& watched, const Plan& plan, const Rect& sample);
  /// Whether at least half of the values have fractions and their range is small.
  static bool is_fractional(const Statistics& values_seen);
  static std::string alpha_warning(const Watched& watched);
  static std::string clipped_warning(const Watched& watched);
  static std::string warning(const Watched& watched);

  std::vector<Watched> watched_;
  double sample_operations_ = 0;  ///< per sample, for all watched clippings
  mutable std::mutex mutex_;
};

}  // namespace sepconv
