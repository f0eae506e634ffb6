// Statistics of integer images: how often each value occurs says everything, exactly.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sepconv/pipeline/measuring.hpp"

namespace sepconv {

namespace {

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

template <class T>
std::vector<ChannelStats> stats_of(Reader& source, const RunOptions& options) {
  ValueCounter<T> counter(source.spec());
  run(source, counter, Chain(), options);
  return counter.stats();
}

}  // namespace

std::vector<ChannelStats> integer_stats(Reader& source, const RunOptions& options) {
  switch (source.spec().type) {
    case PixelType::u8:
      return stats_of<std::uint8_t>(source, options);
    case PixelType::u16:
      return stats_of<std::uint16_t>(source, options);
    default:
      return stats_of<std::int16_t>(source, options);
  }
}

}  // namespace sepconv
