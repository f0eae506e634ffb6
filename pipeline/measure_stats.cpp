// image_stats(): sinks that count instead of keeping pixels, fed by run() with an empty chain, so that
// reading overlaps with counting and the memory ceiling holds.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sepconv/pipeline/cells.hpp"
#include "sepconv/pipeline/measure.hpp"

namespace sepconv {

namespace {

constexpr int kBins = 256;
/// Tables of counts that worker threads may hold together before there are fewer of them than threads.
constexpr std::int64_t kTableBudget = std::int64_t{32} << 20;

using Counts = std::vector<std::int64_t>;

/// A sink in the shape of the source that takes any rectangle of whole `block`s.
class MeasuringWriter : public Writer {
 public:
  MeasuringWriter(const ImageSpec& spec, Extent block) : spec_(spec) {
    layout_.block = block;
    layout_.description = "statistics";
  }
  const ImageSpec& spec() const noexcept override { return spec_; }
  const SinkLayout& layout() const noexcept override { return layout_; }
  void finish() override {}

 private:
  ImageSpec spec_;
  SinkLayout layout_;
};

/// One table of `size` counts per worker, all added up at the end. Counts are exact, so the order does not
/// matter.
class CountTables {
 public:
  explicit CountTables(std::int64_t size) : size_(size) {}

  std::int64_t workers(int concurrency) const {
    return std::clamp<std::int64_t>(kTableBudget / (size_ * 8), 1, concurrency);
  }
  std::int64_t bytes(int concurrency) const { return workers(concurrency) * size_ * 8; }

  /// Calls count(row, table) for `rows` rows, each worker with a table of its own.
  template <class CountRow>
  void add(std::int64_t rows, Executor& executor, CountRow&& count_row) {
    const std::int64_t workers_now = workers(executor.concurrency());
    if (std::ssize(tables_) < workers_now) tables_.resize(static_cast<std::size_t>(workers_now));
    executor.for_each(workers_now, [&](std::int64_t worker, int) {
      Counts& table = tables_[static_cast<std::size_t>(worker)];
      table.resize(static_cast<std::size_t>(size_));
      for (std::int64_t row = worker; row < rows; row += workers_now) count_row(row, table.data());
    });
  }

  Counts total() const {
    Counts sum(static_cast<std::size_t>(size_));
    for (const Counts& table : tables_) {
      std::transform(table.begin(), table.end(), sum.begin(), sum.begin(), std::plus<>());
    }
    return sum;
  }

 private:
  std::int64_t size_;
  std::vector<Counts> tables_;
};

// ---- Integer types: how often each value occurs says everything, exactly. ----

template <class T>
class ValueCounter final : public MeasuringWriter {
 public:
  static constexpr std::int64_t kLeast = std::numeric_limits<T>::min();
  static constexpr std::int64_t kValues = std::int64_t{std::numeric_limits<T>::max()} - kLeast + 1;

  explicit ValueCounter(const ImageSpec& spec)
      : MeasuringWriter(spec, {1, 1}), tables_(spec.channels * kValues) {}

  void write(const Rect&, const ConstPixelView& in, Executor& executor) override {
    tables_.add(in.extent.rows, executor, [&](std::int64_t row, std::int64_t* table) {
      const T* pixel = in.row<T>(row);
      for (std::int64_t col = 0; col < in.extent.cols; ++col, pixel += in.channels) {
        for (std::int64_t channel = 0; channel < in.channels; ++channel) {
          ++table[channel * kValues + (std::int64_t{pixel[channel]} - kLeast)];
        }
      }
    });
  }
  std::int64_t buffer_bytes(int concurrency) const override { return tables_.bytes(concurrency); }

  std::vector<ChannelStats> stats() const {
    const Counts counts = tables_.total();
    std::vector<ChannelStats> result;
    for (std::int64_t channel = 0; channel < spec().channels; ++channel) {
      result.push_back(channel_stats(counts.data() + channel * kValues));
    }
    return result;
  }

 private:
  static ChannelStats channel_stats(const std::int64_t* counts) {
    ChannelStats stats;
    stats.histogram_low = static_cast<double>(kLeast);
    stats.histogram_high = static_cast<double>(kLeast + kValues - 1);
    stats.histogram.assign(kBins, 0);
    std::int64_t low = kValues, high = -1;
    long double sum = 0;  // 64 bits of mantissa: exact up to 2^48 pixels of 16 bits
    for (std::int64_t i = 0; i < kValues; ++i) {
      if (counts[i] == 0) continue;
      low = std::min(low, i), high = i;
      stats.count += counts[i];
      sum += static_cast<long double>(counts[i]) * static_cast<long double>(i + kLeast);
      stats.histogram[static_cast<std::size_t>(i / (kValues / kBins))] += counts[i];
    }
    const long double mean = sum / static_cast<long double>(stats.count);
    long double squares = 0;
    for (std::int64_t i = low; i <= high; ++i) {
      const long double distance = static_cast<long double>(i + kLeast) - mean;
      squares += static_cast<long double>(counts[i]) * distance * distance;
    }
    stats.min = static_cast<double>(low + kLeast), stats.max = static_cast<double>(high + kLeast);
    stats.mean = static_cast<double>(mean);
    stats.deviation = static_cast<double>(std::sqrt(squares / static_cast<long double>(stats.count)));
    return stats;
  }

  CountTables tables_;
};

// ---- Floating types: moments by cells, then, with the range known, the histogram. ----

/// Count, range, mean and sum of squared distances from the mean, which add up as in Chan, Golub and LeVeque,
/// "Updating formulae and a pairwise algorithm for computing sample variances" (1979).
struct Moments {
  std::int64_t count = 0, nan_count = 0;
  double min = std::numeric_limits<double>::infinity(), max = -std::numeric_limits<double>::infinity();
  double mean = 0, squares = 0;

  void add(const Moments& other) {
    nan_count += other.nan_count;
    if (other.count == 0) return;
    min = std::min(min, other.min), max = std::max(max, other.max);
    const double total = static_cast<double>(count + other.count);
    const double share = static_cast<double>(other.count) / total;
    const double delta = other.mean - mean;
    if (count == 0) {
      mean = other.mean, squares = other.squares;  // exactly, infinities too
    } else {
      squares += other.squares + delta * delta * static_cast<double>(count) * share;
      mean += delta * share;
    }
    count += other.count;
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
  double sum = 0;
  for_each_value([&](double value) {
    ++moments.count;
    sum += value;
    moments.min = std::min(moments.min, value), moments.max = std::max(moments.max, value);
  });
  moments.nan_count = cell.extent.area() - moments.count;
  if (moments.count == 0) return moments;
  moments.mean = sum / static_cast<double>(moments.count);
  for_each_value([&](double value) { moments.squares += (value - moments.mean) * (value - moments.mean); });
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
std::vector<ChannelStats> integer_stats(Reader& source, const RunOptions& options) {
  ValueCounter<T> counter(source.spec());
  run(source, counter, Chain(), options);
  return counter.stats();
}

template <class T>
std::vector<ChannelStats> floating_stats(Reader& source, const RunOptions& options) {
  MomentsWriter<T> first_pass(source.spec());
  run(source, first_pass, Chain(), options);
  std::vector<ChannelStats> result;
  std::vector<BinScale> scales;
  constexpr double kGreatest = std::numeric_limits<T>::max();
  for (const Moments& moments : first_pass.total().channels) {
    ChannelStats stats;
    stats.count = moments.count, stats.nan_count = moments.nan_count;
    if (moments.count > 0) {
      stats.min = moments.min, stats.max = moments.max, stats.mean = moments.mean;
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

std::vector<ChannelStats> image_stats(Reader& source, const RunOptions& options) {
  return visit_pixel_type(source.spec().type, [&]<class T>(std::type_identity<T>) {
    if constexpr (std::is_integral_v<T>)
      return integer_stats<T>(source, options);
    else
      return floating_stats<T>(source, options);
  });
}

}  // namespace sepconv
