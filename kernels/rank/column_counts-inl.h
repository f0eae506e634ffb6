// Ranks of u8 at a cost that does not grow with the window (Perreault and Hebert, "Median filtering in
// constant time", 2007). From row to row one value enters and one leaves the histogram of each column; from
// pixel to pixel one column enters and one leaves the sums of the window. Histograms are cumulative, so a
// rank is found by one vector comparison with 16 coarse bounds, then one with the 16 values of the group
// found, whose sums are computed only on demand. Included once per target.
#if defined(SEPCONV_ORDER_COLUMN_COUNTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_ORDER_COLUMN_COUNTS_INL_H
#undef SEPCONV_ORDER_COLUMN_COUNTS_INL_H
#else
#define SEPCONV_ORDER_COLUMN_COUNTS_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdint>

#include "kernels/rank/rank_block.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sixteen sums of column counts.
#if HWY_MAX_BYTES >= 32 && HWY_TARGET != HWY_SCALAR
class Sums {
  static constexpr hn::FixedTag<std::int16_t, 16> d{};
  static constexpr hn::FixedTag<std::uint8_t, 16> d8{};

 public:
  HWY_INLINE static Sums load(const std::int16_t* from) { return Sums{hn::Load(d, from)}; }
  HWY_INLINE void store(std::int16_t* to) const { hn::StoreU(sums_, d, to); }
  HWY_INLINE void add(const std::uint8_t* counts) { sums_ = hn::Add(sums_, widened(counts)); }
  HWY_INLINE void subtract(const std::uint8_t* counts) { sums_ = hn::Sub(sums_, widened(counts)); }
  HWY_INLINE std::size_t count_up_to(std::int64_t rank) const {
    return hn::CountTrue(d, hn::Lt(sums_, hn::Set(d, static_cast<std::int16_t>(rank + 1))));
  }
  HWY_INLINE static void change(std::uint8_t* counts, const std::uint8_t* added,
                                const std::uint8_t* removed) {
    hn::Store(hn::Sub(hn::Add(hn::Load(d8, counts), hn::Load(d8, added)), hn::Load(d8, removed)), d8, counts);
  }

 private:
  using Vector = hn::Vec<hn::FixedTag<std::int16_t, 16>>;
  HWY_INLINE explicit Sums(Vector sums) : sums_(sums) {}
  HWY_INLINE static Vector widened(const std::uint8_t* counts) {
    return hn::PromoteTo(d, hn::Load(d8, counts));
  }
  Vector sums_;
};
#else
class Sums {
 public:
  static Sums load(const std::int16_t* from) {
    Sums sums;
    std::copy_n(from, 16, sums.sums_.begin());
    return sums;
  }
  void store(std::int16_t* to) const { std::copy_n(sums_.begin(), 16, to); }
  void add(const std::uint8_t* counts) {
    for (std::size_t i = 0; i < 16; ++i) sums_[i] = static_cast<std::int16_t>(sums_[i] + counts[i]);
  }
  void subtract(const std::uint8_t* counts) {
    for (std::size_t i = 0; i < 16; ++i) sums_[i] = static_cast<std::int16_t>(sums_[i] - counts[i]);
  }
  std::size_t count_up_to(std::int64_t rank) const {
    std::size_t count = 0;
    for (const std::int16_t sum : sums_) count += sum <= rank;
    return count;
  }
  static void change(std::uint8_t* counts, const std::uint8_t* added, const std::uint8_t* removed) {
    for (std::size_t i = 0; i < 16; ++i)
      counts[i] = static_cast<std::uint8_t>(counts[i] + added[i] - removed[i]);
  }

 private:
  std::array<std::int16_t, 16> sums_;
};
#endif

class ColumnCounts {
 public:
  /// Elements of an input row that are processed together.
  static std::int64_t row_elements(const RankWindow& window, std::int64_t cols, std::int64_t channels) {
    return (cols + window.cols() - 1) * channels;
  }
  static std::int64_t bytes(std::int64_t row_elements) { return Arena::bytes_for(17 * 16 * row_elements); }

  ColumnCounts(const RankFilter& filter, std::int64_t cols, std::int64_t channels, Arena& arena)
      : filter_(filter),
        channels_(channels),
        elements_(row_elements(filter.window, cols, channels)),
        coarse_(arena.allocate<std::uint8_t>(17 * 16 * elements_)),
        fine_(coarse_ + 16 * elements_) {
    for (std::size_t from = 0; from < 16; ++from)
      for (std::size_t i = 0; i < 16; ++i) unit_steps_[from][i] = i >= from;
  }

  /// Counts the window of the first row of the result, whose rows are the first of `input`.
  void begin(const RankInput<std::uint8_t>& input) {
    std::memset(coarse_, 0, static_cast<std::size_t>(17 * 16 * elements_));
    for (std::int64_t row = 0; row < filter_.window.lines(); ++row) {
      const std::uint8_t* const values = input.row(row);
      for (std::int64_t i = 0; i < elements_; ++i) {
        const std::uint8_t value = values[i];
        Sums::change(coarse_ + 16 * i, unit_steps_[value / 16].data(), kNoCounts.data());
        Sums::change(fine(value / 16, i), unit_steps_[value % 16].data(), kNoCounts.data());
      }
    }
  }

  /// Moves down one row in one plane.
  void step(const std::uint8_t* leaving, const std::uint8_t* entering) {
    for (std::int64_t i = 0; i < elements_; ++i) {
      const std::uint8_t old = leaving[i], value = entering[i];
      Sums::change(coarse_ + 16 * i, unit_steps_[value / 16].data(), unit_steps_[old / 16].data());
      Sums::change(fine(old / 16, i), kNoCounts.data(), unit_steps_[old % 16].data());
      Sums::change(fine(value / 16, i), unit_steps_[value % 16].data(), kNoCounts.data());
    }
  }

  /// Computes a row of the result.
  void rank(std::int64_t cols, std::uint8_t* to) {
    for (std::int64_t channel = 0; channel < channels_; ++channel) rank_channel(cols, channel, to + channel);
  }

 private:
  static constexpr std::array<std::uint8_t, 16> kNoCounts alignas(16){};

  std::uint8_t* fine(std::int64_t group, std::int64_t i) const {
    return fine_ + 16 * (group * elements_ + i);
  }

  void rank_channel(std::int64_t cols, std::int64_t channel, std::uint8_t* to) {
    const std::int64_t width = filter_.window.cols(), step = 16 * channels_;
    const std::uint8_t* const coarse = coarse_ + 16 * channel;
    std::array<std::int16_t, 32> sums alignas(64){};  // [15] is 0, the sums follow
    Sums window_sums = Sums::load(sums.data());
    for (std::int64_t col = 0; col + 1 < width; ++col) window_sums.add(coarse + col * step);
    summed_at_.fill(-width);
    for (std::int64_t col = 0; col < cols; ++col) {
      window_sums.add(coarse + (col + width - 1) * step);
      window_sums.store(sums.data() + 16);
      const std::size_t group = window_sums.count_up_to(filter_.rank);
      const std::int64_t remaining_rank = filter_.rank - sums[15 + group];
      const std::size_t value = group_sums(group, col, channel).count_up_to(remaining_rank);
      to[col * channels_] = static_cast<std::uint8_t>(16 * group + value);
      window_sums.subtract(coarse + col * step);
    }
  }

  /// The sums of the values of a group under the window at `col`.
  HWY_INLINE Sums group_sums(std::size_t group, std::int64_t col, std::int64_t channel) {
    const std::int64_t width = filter_.window.cols(), step = 16 * channels_;
    const std::uint8_t* const counts = fine(static_cast<std::int64_t>(group), channel);
    std::int64_t at = summed_at_[group];
    summed_at_[group] = col;
    if (2 * (col - at) >= width) {
      Sums sums = Sums::load(kZero.data());
      for (std::int64_t i = col; i < col + width; ++i) sums.add(counts + i * step);
      sums.store(values_[group].data());
      return sums;
    }
    Sums sums = Sums::load(values_[group].data());
    for (; at < col; ++at) {
      sums.add(counts + (at + width) * step);
      sums.subtract(counts + at * step);
    }
    sums.store(values_[group].data());
    return sums;
  }

  static constexpr std::array<std::int16_t, 16> kZero alignas(64){};

  const RankFilter& filter_;
  std::int64_t channels_, elements_;
  std::uint8_t *coarse_, *fine_;
  std::array<std::array<std::uint8_t, 16>, 16> unit_steps_ alignas(64);
  std::array<std::array<std::int16_t, 16>, 16> values_ alignas(64);
  std::array<std::int64_t, 16> summed_at_;  ///< pixel for which each group's sums were last computed
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
