// Some pixels of an image, kept while its bands pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/image.hpp"

namespace sepconv {

/// How many channels of an image are kept: the first three where there are as many, else the first.
std::int64_t shown_channels(const ImageSpec& image);

/// What pixels are that are missing: of this value, or where this channel is 0.
struct MissingSamples {
  std::optional<double> value{};
  std::optional<std::int64_t> alpha{};
};

/// Pixels on a regular grid over a part of an image: all of it where the grid has as many, else the middle
/// one of each cell. Of shown_channels().
class SampledPixels {
 public:
  /// At most `most` pixels, and memory for them.
  SampledPixels(const ImageSpec& image, const Rect& area, std::int64_t most,
                const MissingSamples& missing = {});

  void see(const Rect& rect, const ConstPixelView& pixels);
  bool seen() const noexcept { return seen_; }
  const Rect& area() const noexcept { return area_; }
  Extent grid() const noexcept { return {std::ssize(rows_), std::ssize(cols_)}; }
  std::int64_t channels() const noexcept { return channels_; }
  PixelType type() const noexcept { return type_; }
  bool some_can_be_missing() const noexcept { return missing_.value || missing_.alpha; }
  /// Row after row, channels side by side. What is missing is NaN.
  std::vector<float> values() const { return values_as<float>(); }
  std::vector<double> exact_values() const { return values_as<double>(); }

 private:
  template <class A>
  std::vector<A> values_as() const;

  Rect area_;
  std::int64_t channels_;
  PixelType type_;
  MissingSamples missing_;
  std::vector<std::int64_t> rows_, cols_;  // of the image
  std::vector<std::byte> pixels_;
  std::vector<bool> hidden_;  // by alpha, where there is one
  bool seen_ = false;
};

}  // namespace sepconv
