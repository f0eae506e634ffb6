// Statistics of one image and differences of two, streamed in the same bands as run().
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/run/run.hpp"

namespace sepconv {

/// Statistics of one channel. NaN and missing pixels are counted but excluded from everything else.
struct ChannelStats {
  std::int64_t count = 0;
  std::int64_t nan_count = 0;
  std::int64_t missing_count = 0;  ///< includes NaN if the source or the options declare missing pixels
  double min = 0, max = 0, mean = 0;
  double deviation = 0;  ///< population standard deviation: sqrt(mean((x - mean)^2))
  /// 256 equal bins over [histogram_low, histogram_high]; for integer types the whole range of the type.
  double histogram_low = 0, histogram_high = 0;
  std::vector<std::int64_t> histogram;  ///< empty if not requested (floating types: needs a second pass)
};
/// One pass for integer types, two for floating types; the second computes the histogram and is omitted if
/// `histogram` is false. Computed on the CPU: throws InvalidArgument if options.devices names GPUs. Results are
/// bit-identical for all plans. Missing pixels are those of options.missing
/// and the source's metadata.
std::vector<ChannelStats> image_stats(Reader& source, const RunOptions& options = {}, bool histogram = true);

struct Comparison {
  std::int64_t elements = 0;
  std::int64_t different = 0;  ///< elements with |a - b| > tolerance, or with exactly one value NaN or
                               ///< missing
  /// Elements that are NaN or missing in this image only.
  std::int64_t missing_in_a = 0, missing_in_b = 0;
  double max_difference = 0;
  double mean_difference = 0;
  double mean_square = 0;  ///< mean squared difference
  double peak = 1;         ///< maximum value of an integer sample type; 1 for other types
  double psnr_db = 0;      ///< 10 log10(peak^2 / mean_square); infinity if equal
  struct Position {
    std::int64_t row = 0, col = 0, channel = 0;
    double a = 0, b = 0;  ///< NaN if missing or NaN
  };
  std::optional<Position> first;  ///< first differing element in row-major order
  bool equal() const noexcept { return different == 0; }
};
/// Missing pixels of each image are those of options.missing and of its metadata; pixels missing in both are
/// equal. Throws InvalidArgument if extents, channels or types differ.
Comparison compare_images(Reader& a, Reader& b, double tolerance, const RunOptions& options = {});
/// Combines the comparisons of several pairs of images of one type as if they were one pair. `first` is that
/// of the first pair that differs.
Comparison total_of(const std::vector<Comparison>& comparisons);

}  // namespace sepconv
