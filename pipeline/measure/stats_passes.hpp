// Shared code of the sinks of image_stats(). Internal to pipeline/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "io/writer.hpp"
#include "kernels/reduce/reduce.hpp"
#include "pipeline/job/missing_pixels.hpp"
#include "pipeline/measure/measure.hpp"

namespace sepconv {

/// Statistics of an integer image (one pass) and of a floating image (two passes).
std::vector<ChannelStats> integer_stats(Reader& source, const RunOptions& options,
                                        const MissingPixels& missing);
std::vector<ChannelStats> floating_stats(Reader& source, const RunOptions& options, bool histogram);

/// Maximum bytes of the count tables of all worker threads; beyond it fewer workers count.
inline constexpr std::int64_t kTableBudget = std::int64_t{32} << 20;

using Counts = std::vector<std::int64_t>;

/// Statistics from counts[channel * value_count + value - minimum of the type]. The value `missing` counts as
/// missing.
std::vector<ChannelStats> stats_of_counts(const ImageSpec& spec, Counts counts,
                                          std::optional<double> missing);

/// Moments of every channel of one or more cells.
struct ChannelMoments {
  std::vector<Moments> channels;
  explicit ChannelMoments(std::int64_t count) : channels(static_cast<std::size_t>(count)) {}
  void add(const ChannelMoments& other) {
    for (std::size_t i = 0; i < channels.size(); ++i) channels[i].add(other.channels[i]);
  }
};

/// A sink of the source's shape that accepts any rectangle of whole `block`s.
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

/// One table of `size` counts per worker; they are summed at the end. Counts are exact, so the order does not
/// matter.
class CountTables {
 public:
  explicit CountTables(std::int64_t size) : size_(size) {}

  std::int64_t workers(int concurrency) const {
    return std::clamp<std::int64_t>(kTableBudget / (size_ * 8), 1, concurrency);
  }
  std::int64_t bytes(int concurrency) const { return workers(concurrency) * size_ * 8; }

  /// Calls count_row(row, table) for `rows` rows; each worker has a separate table.
  template <class CountRow>
  void add(std::int64_t rows, Executor& executor, CountRow&& count_row) {
    const std::int64_t workers_used = workers(executor.concurrency());
    if (std::ssize(tables_) < workers_used) tables_.resize(static_cast<std::size_t>(workers_used));
    executor.for_each(workers_used, [&](std::int64_t worker, int) {
      Counts& table = tables_[static_cast<std::size_t>(worker)];
      table.resize(static_cast<std::size_t>(size_));
      for (std::int64_t row = worker; row < rows; row += workers_used) count_row(row, table.data());
    });
  }

  /// Ends the counting and returns the sum. The first table is the accumulator: another one could exceed the
  /// memory ceiling.
  Counts take_total() {
    tables_.resize(std::max<std::size_t>(tables_.size(), 1));
    Counts sum = std::move(tables_.front());
    sum.resize(static_cast<std::size_t>(size_));
    for (const Counts& table : tables_)
      std::transform(table.begin(), table.end(), sum.begin(), sum.begin(), std::plus<>());
    tables_.clear();
    return sum;
  }

 private:
  std::int64_t size_;
  std::vector<Counts> tables_;
};

}  // namespace sepconv
