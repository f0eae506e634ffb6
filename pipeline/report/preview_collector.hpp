// The pixels that a report shows, collected while bands are processed: an overview, a detail at full
// resolution, and samples for statistics, of both source and result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "pipeline/plan/plan.hpp"
#include "pipeline/report/area_means.hpp"
#include "pipeline/report/preview_samples.hpp"
#include "pipeline/run/band_observer.hpp"

namespace sepconv {

/// The values shown as black and as white.
struct Stretch {
  double low = 0, high = 255;
};

/// For an image whose rows are planes along z, the middle plane is collected.
class PreviewCollector final : public BandObserver {
 public:
  /// Whether values are indices into a colour table, which have no mean.
  struct Indexed {
    bool source = false, result = false;
  };
  /// Missing pixels of the plan are excluded from all statistics.
  explicit PreviewCollector(const Plan& plan) : PreviewCollector(plan, Indexed{}) {}
  PreviewCollector(const Plan& plan, const Indexed& indexed);

  void observe_source(const Rect& rect, const ConstPixelView& pixels) override;
  void observe_result(const Rect& rect, const ConstPixelView& pixels) override;

  struct ImageSamples {
    SampledPixels overview, detail;
    Extent extent{};                   ///< of the sampled image
    std::optional<AreaMeans> means{};  ///< empty for an indexed image
    /// The whole image as a PNG: of its means, or of the samples of an indexed image. NaN is black.
    std::vector<std::byte> overview_png(const Stretch& stretch) const;
  };
  const ImageSamples& source() const noexcept { return source_; }
  const ImageSamples& result() const noexcept { return result_; }
  /// Index of the collected plane; empty if rows are not planes.
  std::optional<std::int64_t> plane() const noexcept { return plane_; }
  /// Whether pixels of source and result have the same relative position.
  bool same_positions() const noexcept { return same_positions_; }

 private:
  struct SampledImage;
  PreviewCollector(const SampledImage& sampled, const MissingPixels& missing, const Indexed& indexed,
                   std::optional<std::int64_t> plane);
  void collect(std::mutex& mutex, ImageSamples& samples, const Rect& rect,
               const ConstPixelView& pixels) const;
  static void add(std::mutex& mutex, ImageSamples& samples, const Rect& rect, const ConstPixelView& pixels);

  std::optional<std::int64_t> plane_;
  bool same_positions_;
  std::mutex source_mutex_, result_mutex_;
  ImageSamples source_, result_;
};

/// The part of an image at the same relative position as `part` in an image of extent `other`.
Rect proportional_part(Extent image, const Rect& part, Extent other);

/// The 0.5th and the 99.5th percentile; 0 and 255 for u8. NaN and infinities are ignored.
Stretch stretch_of(PixelType type, std::vector<float> values);

/// Values mapped to 0..255; NaN becomes 0.
std::vector<std::uint8_t> stretched(const std::vector<float>& values, const Stretch& stretch);

/// The pixels as a PNG; NaN is black.
std::vector<std::byte> png_of(const SampledPixels& pixels, const Stretch& stretch);

/// Counts of values in equal bins between low and high. Values outside are counted in the first and the last
/// bin.
struct Histogram {
  double low = 0, high = 0;
  std::vector<std::vector<std::int64_t>> counts{};  // per channel and bin
  std::int64_t samples = 0;
  bool ends_count_outliers = true;  // whether values outside low..high are counted at the ends
  double nan_fraction = 0;          // fraction of NaN and missing values
  double mean = 0, deviation = 0, least = 0, most = 0;
};
Histogram histogram_of(const SampledPixels& pixels);

}  // namespace sepconv
