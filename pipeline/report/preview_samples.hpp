// Sampled pixels of an image, collected while its bands are processed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/image.hpp"

namespace sepconv {

/// Number of channels that are sampled: the first three of 3 or 4 channels, else the first.
std::int64_t shown_channels(const ImageSpec& image);

/// The grid of at most `max_pixels` points with about the same distance along rows and columns; all pixels if
/// these are no more.
Extent sampling_grid(Extent area, std::int64_t max_pixels);

/// A position in [begin, begin + length), which is cut into `count` equal parts: `part` 2 is the begin of part 2,
/// and 2.5 its middle.
std::int64_t grid_position(std::int64_t begin, std::int64_t length, std::int64_t count, double part);

/// Definition of missing pixels: those with this value, or those whose alpha channel is 0.
struct MissingSamples {
  std::optional<double> value{};
  std::optional<std::int64_t> alpha{};
};

/// Pixels on a regular grid over an area of an image, in shown_channels() channels: all pixels if the grid
/// has enough points, else the middle pixel of each cell.
class SampledPixels {
 public:
  /// Allocates memory for at most `max_pixels` pixels.
  SampledPixels(const ImageSpec& image, const Rect& area, std::int64_t max_pixels,
                const MissingSamples& missing = {});

  void see(const Rect& rect, const ConstPixelView& pixels);
  bool seen() const noexcept { return seen_; }
  const Rect& area() const noexcept { return area_; }
  Extent grid() const noexcept { return {std::ssize(rows_), std::ssize(cols_)}; }
  std::int64_t channels() const noexcept { return channels_; }
  PixelType type() const noexcept { return type_; }
  bool may_have_missing() const noexcept { return missing_.value || missing_.alpha; }
  /// Values in row-major order, channels interleaved. Missing values are NaN.
  std::vector<float> values() const { return values_as<float>(); }
  std::vector<double> exact_values() const { return values_as<double>(); }

 private:
  template <class A>
  std::vector<A> values_as() const;

  Rect area_;
  std::int64_t channels_;
  PixelType type_;
  MissingSamples missing_;
  std::vector<std::int64_t> rows_, cols_;  // grid positions in the image
  std::vector<std::byte> pixels_;
  std::vector<bool> hidden_;  // pixels whose alpha is 0; empty without alpha
  bool seen_ = false;
};

}  // namespace sepconv
