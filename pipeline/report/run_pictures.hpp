// What a report shows of a run's pixels, kept while its bands passed: some pixels of all of the image, and
// all of some of it, of source and result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "pipeline/plan/plan.hpp"
#include "pipeline/report/preview_samples.hpp"
#include "pipeline/run/band_observer.hpp"

namespace sepconv {

/// For rows that are planes along z the one in the middle is kept.
class PreviewCollector final : public BandObserver {
 public:
  /// `missing`: missing_pixels() of the plan's source. They are left out of what is told of values.
  explicit PreviewCollector(const Plan& plan, const MissingPixels& missing = {});

  void see_source(const Rect& rect, const ConstPixelView& pixels) override;
  void see_result(const Rect& rect, const ConstPixelView& pixels) override;

  struct Side {
    SampledPixels all, detail;
    Extent extent{};  ///< of what is kept
  };
  const Side& source() const noexcept { return source_; }
  const Side& result() const noexcept { return result_; }
  /// The row that is the plane that is kept; nothing: rows are rows.
  std::optional<std::int64_t> plane() const noexcept { return plane_; }
  /// Whether a pixel of the result lies where that of the source lies, in proportion to their sides.
  bool same_places() const noexcept { return same_places_; }

 private:
  struct Kept;
  PreviewCollector(const Plan& plan, const Kept& kept, const MissingPixels& missing);
  void see(std::mutex& mutex, Side& side, const Rect& rect, const ConstPixelView& pixels) const;
  static void keep(std::mutex& mutex, Side& side, const Rect& rect, const ConstPixelView& pixels);

  std::optional<std::int64_t> plane_;
  bool same_places_;
  std::mutex source_mutex_, result_mutex_;
  Side source_, result_;
};

/// The part of an image that lies where `part` of another does, in proportion to their sides.
Rect part_of(Extent image, const Rect& part, Extent other);

/// The values that are shown as black and as white.
struct Stretch {
  double low = 0, high = 255;
};
/// The 0.5th and the 99.5th percentile; of u8 black and white are 0 and 255. Not-a-numbers are not counted.
Stretch stretch_of(PixelType type, std::vector<float> values);

/// From 0 to 255, not-a-numbers as 0.
std::vector<std::uint8_t> stretched(const std::vector<float>& values, const Stretch& stretch);

/// A PNG of these, not-a-numbers as black.
std::vector<std::byte> png_of(const SampledPixels& pixels, const Stretch& stretch);

/// What of the values lies where between low and high; values beyond are in the first and the last of the
/// counts, each of which is of as many integers.
struct Histogram {
  double low = 0, high = 0;
  std::vector<std::vector<std::int64_t>> counts{};  // of each channel
  std::int64_t samples = 0;
  bool ends_hold_others = true;  // what lies beyond low and high
  double nan_share = 0;          // and of what is missing
  double mean = 0, deviation = 0, least = 0, most = 0;
};
Histogram histogram_of(const SampledPixels& pixels);

}  // namespace sepconv
