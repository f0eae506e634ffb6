// Statistics of integer images: the count of each value determines all of them exactly.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "pipeline/measure/stats_passes.hpp"

namespace sepconv {

namespace {

template <class T>
constexpr std::int64_t kMin = std::numeric_limits<T>::min();
template <class T>
constexpr std::int64_t kValues = value_count(pixel_type_of<T>());

template <class T>
class ValueCounter final : public MeasuringWriter {
 public:
  ValueCounter(const ImageSpec& spec, std::optional<std::int64_t> alpha)
      : MeasuringWriter(spec, {1, 1}), alpha_(alpha.value_or(-1)), tables_(spec.channels * kValues<T>) {}

  void write(const Rect&, const ConstPixelView& in, Executor& executor) override {
    tables_.add(in.extent.rows, executor, [&](std::int64_t row, std::int64_t* table) {
      const T* pixel = in.row<T>(row);
      for (std::int64_t col = 0; col < in.extent.cols; ++col, pixel += in.channels) {
        if (alpha_ >= 0 && pixel[alpha_] == 0) continue;
        for (std::int64_t channel = 0; channel < in.channels; ++channel) {
          ++table[channel * kValues<T> + (std::int64_t{pixel[channel]} - kMin<T>)];
        }
      }
    });
  }
  std::int64_t buffer_bytes(int concurrency) const override { return tables_.bytes(concurrency); }

  Counts take_counts() { return tables_.take_total(); }

 private:
  std::int64_t alpha_;  // alpha channel, whose value 0 hides pixels; -1 if none
  CountTables tables_;
};

/// Statistics of one channel from its value counts.
template <class T>
ChannelStats channel_stats(const std::int64_t* counts) {
  ChannelStats stats;
  stats.histogram_low = static_cast<double>(kMin<T>);
  stats.histogram_high = static_cast<double>(kMin<T> + kValues<T> - 1);
  stats.histogram.assign(kBins, 0);
  std::int64_t low = kValues<T>, high = -1;
  long double sum = 0;  // 64 bits of mantissa: exact up to 2^48 pixels of 16 bits
  for (std::int64_t i = 0; i < kValues<T>; ++i) {
    if (counts[i] == 0) continue;
    low = std::min(low, i), high = i;
    stats.count += counts[i];
    sum += static_cast<long double>(counts[i]) * static_cast<long double>(i + kMin<T>);
    stats.histogram[static_cast<std::size_t>(i / (kValues<T> / kBins))] += counts[i];
  }
  if (stats.count == 0) return stats;
  const long double mean = sum / static_cast<long double>(stats.count);
  long double squares = 0;
  for (std::int64_t i = low; i <= high; ++i) {
    const long double distance = static_cast<long double>(i + kMin<T>) - mean;
    squares += static_cast<long double>(counts[i]) * distance * distance;
  }
  stats.min = static_cast<double>(low + kMin<T>), stats.max = static_cast<double>(high + kMin<T>);
  stats.mean = static_cast<double>(mean);
  stats.deviation = static_cast<double>(std::sqrt(squares / static_cast<long double>(stats.count)));
  return stats;
}

/// Calls visit with a value of the C++ type of an integer pixel type.
template <class Visit>
auto visit_integer(PixelType type, Visit&& visit) {
  if (type == PixelType::u8) return visit(std::uint8_t{});
  return type == PixelType::u16 ? visit(std::uint16_t{}) : visit(std::int16_t{});
}

}  // namespace

std::vector<ChannelStats> stats_of_counts(const ImageSpec& spec, Counts counts,
                                          std::optional<double> missing) {
  return visit_integer(spec.type, [&]<class T>(T) {
    std::vector<ChannelStats> result;
    for (std::int64_t channel = 0; channel < spec.channels; ++channel) {
      std::int64_t* const channel_counts = counts.data() + channel * kValues<T>;
      const std::int64_t missing_count =
          missing ? std::exchange(channel_counts[static_cast<std::int64_t>(*missing) - kMin<T>], 0) : 0;
      result.push_back(channel_stats<T>(channel_counts));
      result.back().missing_count = missing_count;
    }
    return result;
  });
}

std::vector<ChannelStats> integer_stats(Reader& source, const RunOptions& options,
                                        const MissingPixels& missing) {
  return visit_integer(source.spec().type, [&]<class T>(T) {
    ValueCounter<T> counter(source.spec(), missing.alpha);
    run(source, counter, Chain(), options);
    std::vector<ChannelStats> stats = stats_of_counts(source.spec(), counter.take_counts(), missing.value);
    // Pixels hidden by alpha were not counted.
    for (ChannelStats& channel : stats) channel.missing_count = source.spec().extent.area() - channel.count;
    return stats;
  });
}

}  // namespace sepconv
