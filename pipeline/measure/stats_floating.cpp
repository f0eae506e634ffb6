// Statistics of floating images: the first pass computes moments by cells; the second computes the histogram
// over the range found.
#include <algorithm>
#include <cmath>
#include <limits>

#include "pipeline/measure/stats_passes.hpp"
#include "pipeline/measure/stats_tiles.hpp"

namespace sepconv {

namespace {

class MomentsWriter final : public MeasuringWriter {
 public:
  explicit MomentsWriter(const ImageSpec& spec) : MomentsWriter(spec, cell_extent(spec, {1, 1})) {}

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    sums_.add(rect, executor, [&](const Rect& cell, ChannelMoments& moments) {
      const ConstPixelView pixels = in.crop({cell.row - rect.row, cell.col - rect.col, cell.rows, cell.cols});
      for (std::int64_t channel = 0; channel < in.channels; ++channel) {
        moments.channels[static_cast<std::size_t>(channel)] = cell_moments(pixels, channel);
      }
    });
  }
  std::int64_t buffer_bytes(int) const override {
    return sums_.bytes(spec().channels * std::int64_t{sizeof(Moments)});
  }
  ChannelMoments total() const { return sums_.total(); }

 private:
  MomentsWriter(const ImageSpec& spec, Extent cell)
      : MeasuringWriter(spec, cell), sums_(spec, cell, ChannelMoments(spec.channels)) {}

  CellSums<ChannelMoments> sums_;
};

template <class T>
class HistogramWriter final : public MeasuringWriter {
 public:
  HistogramWriter(const ImageSpec& spec, std::vector<BinScale> scales)
      : MeasuringWriter(spec, {1, 1}), scales_(std::move(scales)), tables_(spec.channels * kBins) {}

  void write(const Rect&, const ConstPixelView& in, Executor& executor) override {
    tables_.add(in.extent.rows, executor, [&](std::int64_t row, std::int64_t* table) {
      const T* pixel = in.row<T>(row);
      for (std::int64_t col = 0; col < in.extent.cols; ++col, pixel += in.channels) {
        for (std::int64_t channel = 0; channel < in.channels; ++channel) {
          const int bin = scales_[static_cast<std::size_t>(channel)].bin(static_cast<double>(pixel[channel]));
          if (bin >= 0) ++table[channel * kBins + bin];
        }
      }
    });
  }
  std::int64_t buffer_bytes(int concurrency) const override { return tables_.bytes(concurrency); }
  Counts take_counts() { return tables_.take_total(); }

 private:
  std::vector<BinScale> scales_;
  CountTables tables_;
};

/// All statistics except the histogram.
ChannelStats stats_of_moments(const Moments& moments, double max_finite) {
  ChannelStats stats;
  stats.count = moments.count, stats.nan_count = moments.nan_count;
  if (moments.count == 0) return stats;
  stats.min = moments.min, stats.max = moments.max, stats.mean = moments.mean();
  stats.deviation = std::sqrt(moments.squares / static_cast<double>(moments.count));
  stats.histogram_low = std::clamp(moments.min, -max_finite, max_finite);
  stats.histogram_high = std::clamp(moments.max, -max_finite, max_finite);
  return stats;
}

template <class T>
std::vector<ChannelStats> stats_of(Reader& source, const RunOptions& options, bool histogram) {
  MomentsWriter moments_pass(source.spec());
  run(source, moments_pass, Chain(), options);
  std::vector<ChannelStats> result;
  std::vector<BinScale> scales;
  for (const Moments& moments : moments_pass.total().channels) {
    result.push_back(stats_of_moments(moments, std::numeric_limits<T>::max()));
    scales.push_back({result.back().histogram_low, result.back().histogram_high});
  }
  if (!histogram) return result;
  HistogramWriter<T> bins_pass(source.spec(), scales);
  run(source, bins_pass, Chain(), options);
  const Counts counts = bins_pass.take_counts();
  for (std::size_t channel = 0; channel < result.size(); ++channel) {
    const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(channel * kBins);
    result[channel].histogram.assign(begin, begin + kBins);
  }
  return result;
}

}  // namespace

std::vector<ChannelStats> floating_stats(Reader& source, const RunOptions& options, bool histogram) {
  return source.spec().type == PixelType::f64 ? stats_of<double>(source, options, histogram)
                                              : stats_of<float>(source, options, histogram);
}

}  // namespace sepconv
