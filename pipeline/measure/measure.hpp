// Statistics of an image and the difference of two, streamed through the same bands as run().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/run/run.hpp"

namespace sepconv {

/// For one channel. Not-a-numbers and missing pixels are counted and left out of everything else.
struct ChannelStats {
  std::int64_t count = 0;
  std::int64_t nan_count = 0;
  std::int64_t missing_count = 0;  ///< NaN among them, where the source or the options declare missing pixels
  double min = 0, max = 0, mean = 0;
  double deviation = 0;  ///< of the population: sqrt(mean((x - mean)^2))
  /// 256 equal bins over [histogram_low, histogram_high]; for integer types over the type's whole range.
  double histogram_low = 0, histogram_high = 0;
  std::vector<std::int64_t> histogram;  ///< empty: it was not wanted, and took a pass of its own
};
/// One pass for integer types, two for floating types: the second is for the histogram, and without one there
/// is none. The same bits for any plan. Pixels are missing as options.missing and the source's metadata say.
std::vector<ChannelStats> image_stats(Reader& source, const RunOptions& options = {}, bool histogram = true);

struct Comparison {
  std::int64_t elements = 0;
  std::int64_t different = 0;  ///< elements with |a - b| > tolerance, or exactly one of them not a number, or
                               ///< missing
  /// Elements that are missing, or no number, in one image and not in the other.
  std::int64_t missing_in_a = 0, missing_in_b = 0;
  double max_difference = 0;
  double mean_difference = 0;
  double mean_square = 0;  ///< of the differences
  double peak = 1;         ///< greatest value of the elements' type; 1 of those that are not integers
  double psnr_db = 0;      ///< 10 log10(peak^2 / mean squared difference); infinity if equal
  struct Position {
    std::int64_t row = 0, col = 0, channel = 0;
    double a = 0, b = 0;  ///< NaN: missing, or no number
  };
  std::optional<Position> first;  ///< first differing element in row-major order
  bool equal() const noexcept { return different == 0; }
};
/// Pixels are missing as options.missing and, each for itself, the images' metadata say; what is missing in
/// both is equal. Throws InvalidArgument when extents, channels or types differ.
Comparison compare_images(Reader& a, Reader& b, double tolerance, const RunOptions& options = {});
/// For several pairs of images of one type, as if they were one pair; `first` is that of the first that has
/// one.
Comparison total_of(const std::vector<Comparison>& comparisons);

}  // namespace sepconv
