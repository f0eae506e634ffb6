// Statistics of floating images: moments by cells, then, with the range known, the histogram.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sepconv/pipeline/cells.hpp"
#include "sepconv/pipeline/measuring.hpp"

namespace sepconv {

namespace {

/// Count, range, sum and squared distances from the mean, which add up as in Chan, Golub and LeVeque,
/// "Updating formulae and a pairwise algorithm for computing sample variances" (1979). An infinity makes the
/// mean infinite and the squares not-a-number.
struct Moments {
  std::int64_t count = 0, nan_count = 0;
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
  double sum = 0, squares = 0;

  double mean() const { return sum / static_cast<double>(count); }

  void add(const Moments& other) {
    nan_count += other.nan_count;
    if (other.count == 0) return;
    if (count > 0) {
      const double delta = other.mean() - mean();
      const double share = static_cast<double>(other.count) / static_cast<double>(count + other.count);
      squares += delta * delta * static_cast<double>(count) * share;
    }
    min = std::min(min, other.min), max = std::max(max, other.max);
    count += other.count;
    sum += other.sum;
    squares += other.squares;
  }
};

struct ChannelMoments {
  std::vector<Moments> channels;
  void add(const ChannelMoments& other) {
    for (std::size_t i = 0; i < channels.size(); ++i) channels[i].add(other.channels[i]);
  }
};

/// Two passes over a cell, which fits a cache: the mean first, so that nothing cancels in the squares.
template <class T>
Moments moments_of(const ConstPixelView& cell, std::int64_t channel) {
  const auto for_each_value = [&](auto&& visit) {
    for (std::int64_t row = 0; row < cell.extent.rows; ++row) {
      const T* value = cell.row<T>(row) + channel;
      for (std::int64_t col = 0; col < cell.extent.cols; ++col, value += cell.channels) {
        if (*value == *value) visit(static_cast<double>(*value));
      }
    }
  };
  Moments moments;
  for_each_value([&](double value) {
    ++moments.count;
    moments.sum += value;
    moments.min = std::min(moments.min, value), moments.max = std::max(moments.max, value);
  });
  moments.nan_count = cell.extent.area() - moments.count;
  if (moments.count == 0) return moments;
  const double mean = moments.mean();
  for_each_value([&](double value) { moments.squares += (value - mean) * (value - mean); });
  return moments;
}

template <class T>
class MomentsWriter final : public MeasuringWriter {
 public:
  explicit MomentsWriter(const ImageSpec& spec) : MomentsWriter(spec, cell_extent(spec, {1, 1})) {}

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    sums_.add(rect, executor, [&](const Rect& cell, ChannelMoments& moments) {
      const ConstPixelView pixels = in.crop({cell.row - rect.row, cell.col - rect.col, cell.rows, cell.cols});
      for (std::int64_t channel = 0; channel < in.channels; ++channel) {
        moments.channels[static_cast<std::size_t>(channel)] = moments_of<T>(pixels, channel);
      }
    });
  }
  std::int64_t buffer_bytes(int) const override {
    return sums_.bytes(spec().channels * std::int64_t{sizeof(Moments)});
  }
  ChannelMoments total() const { return sums_.total(); }

 private:
  MomentsWriter(const ImageSpec& spec, Extent cell)
      : MeasuringWriter(spec, cell),
        sums_(spec, cell, ChannelMoments{std::vector<Moments>(static_cast<std::size_t>(spec.channels))}) {}

  CellSums<ChannelMoments> sums_;
};

/// Bins of equal width over each channel's range; infinities fall out of it, into no bin.
struct BinScale {
  double low = 0, high = 0;

  std::int64_t bin(double value) const {
    if (!(value >= low && value <= high)) return -1;
    // Halves, because the range of f64 values may itself be beyond f64.
    const double part = (value / 2 - low / 2) / (high / 2 - low / 2);
    return std::isfinite(part) ? std::min<std::int64_t>(static_cast<std::int64_t>(part * kBins), kBins - 1)
                               : 0;
  }
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
          const std::int64_t bin =
              scales_[static_cast<std::size_t>(channel)].bin(static_cast<double>(pixel[channel]));
          if (bin >= 0) ++table[channel * kBins + bin];
        }
      }
    });
  }
  std::int64_t buffer_bytes(int concurrency) const override { return tables_.bytes(concurrency); }
  Counts counts() const { return tables_.total(); }

 private:
  std::vector<BinScale> scales_;
  CountTables tables_;
};

template <class T>
std::vector<ChannelStats> stats_of(Reader& source, const RunOptions& options) {
  MomentsWriter<T> first_pass(source.spec());
  run(source, first_pass, Chain(), options);
  std::vector<ChannelStats> result;
  std::vector<BinScale> scales;
  constexpr double kGreatest = std::numeric_limits<T>::max();
  for (const Moments& moments : first_pass.total().channels) {
    ChannelStats stats;
    stats.count = moments.count, stats.nan_count = moments.nan_count;
    if (moments.count > 0) {
      stats.min = moments.min, stats.max = moments.max, stats.mean = moments.mean();
      stats.deviation = std::sqrt(moments.squares / static_cast<double>(moments.count));
      stats.histogram_low = std::clamp(moments.min, -kGreatest, kGreatest);
      stats.histogram_high = std::clamp(moments.max, -kGreatest, kGreatest);
    }
    scales.push_back({stats.histogram_low, stats.histogram_high});
    result.push_back(std::move(stats));
  }

  HistogramWriter<T> second_pass(source.spec(), std::move(scales));
  run(source, second_pass, Chain(), options);
  const Counts counts = second_pass.counts();
  for (std::size_t channel = 0; channel < result.size(); ++channel) {
    const auto begin = counts.begin() + static_cast<std::ptrdiff_t>(channel * kBins);
    result[channel].histogram.assign(begin, begin + kBins);
  }
  return result;
}

}  // namespace

std::vector<ChannelStats> floating_stats(Reader& source, const RunOptions& options) {
  return source.spec().type == PixelType::f64 ? stats_of<double>(source, options)
                                              : stats_of<float>(source, options);
}

}  // namespace sepconv
