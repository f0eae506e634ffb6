// A small picture of an image, made of means, collected while its bands are processed.
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"
#include "pipeline/report/preview_samples.hpp"

namespace sepconv {

/// The mean of each cell of a grid over an area of an image, in shown_channels() channels. Missing values and
/// NaN do not count. Means of integers do not depend on how the image is cut into bands, because their sums are
/// exact. Sums of floating values are double, so that the cut can change the last bit of a float at most.
class AreaMeans {
 public:
  /// Allocates memory for at most `max_pixels` cells.
  AreaMeans(const ImageSpec& image, const Rect& area, std::int64_t max_pixels,
            const MissingSamples& missing = {});

  /// Adds the pixels of `rect` that no earlier call has added.
  void see(const Rect& rect, const ConstPixelView& pixels);
  Extent grid() const noexcept { return {std::ssize(row_edges_) - 1, std::ssize(col_edges_) - 1}; }
  std::int64_t channels() const noexcept { return channels_; }
  /// In row-major order, channels interleaved; NaN for cells without values.
  std::vector<float> values() const;

 private:
  std::vector<Rect> unseen_parts(const Rect& rect) const;
  void set_seen(Rect rect);
  template <class T>
  void add(const Rect& part, const ConstPixelView& pixels);
  template <class T, class Sum>
  void add_present_values(const T* row, std::int64_t row_channels, std::vector<Sum>& sums,
                          std::vector<std::uint32_t>& counts) const;
  template <class Sum>
  void add_to_cells(std::int64_t cell_row, const Rect& part, const std::vector<Sum>& sums,
                    const std::vector<std::uint32_t>& counts);

  Rect area_;
  std::int64_t channels_;
  PixelType type_;
  MissingSamples missing_;
  std::vector<std::int64_t> row_edges_, col_edges_;  // of the cells, in the image
  std::vector<Rect> seen_;                           // disjoint
  std::vector<double> sums_;
  std::vector<std::uint32_t> counts_;
};

}  // namespace sepconv
