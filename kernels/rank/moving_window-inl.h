// Ranks by a moving window: all elements of a part are sorted once, and the window is a bit set over their
// ranks. Each step of the window clears and sets one bit per row. Supports all elements, windows, and NaN.
// Included once per target, for its instructions that count and shift bits.
#if defined(SEPCONV_ORDER_MOVING_WINDOW_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_ORDER_MOVING_WINDOW_INL_H
#undef SEPCONV_ORDER_MOVING_WINDOW_INL_H
#else
#define SEPCONV_ORDER_MOVING_WINDOW_INL_H
#endif

#include <hwy/highway.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernels/rank/rank_block.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

/// Elements as unsigned integers in the same order, NaN after all others.
template <class E>
struct RankKey {
  using Key = std::conditional_t<
      sizeof(E) == 1, std::uint8_t,
      std::conditional_t<sizeof(E) == 2, std::uint16_t,
                         std::conditional_t<sizeof(E) == 4, std::uint32_t, std::uint64_t>>>;
  static constexpr Key kSign = Key(Key(1) << (8 * sizeof(Key) - 1));
  static constexpr Key kNan = std::numeric_limits<Key>::max();

  static Key encode(E value) {
    const Key bits = std::bit_cast<Key>(value);
    if constexpr (std::is_floating_point_v<E>) {
      if (std::isnan(value)) return kNan;
      return bits & kSign ? Key(~bits) : Key(bits | kSign);
    }
    return std::is_signed_v<E> ? Key(bits ^ kSign) : bits;
  }
  static E decode(Key key) {
    if constexpr (std::is_floating_point_v<E>)
      return std::bit_cast<E>(key & kSign ? Key(key ^ kSign) : Key(~key));
    return std::bit_cast<E>(std::is_signed_v<E> ? Key(key ^ kSign) : key);
  }
};

/// Memory for sorting `area` elements and for a window over them.
template <class E>
struct MovingWindowScratch {
  using Key = typename RankKey<E>::Key;
  Key* keys[2];
  std::uint32_t* positions[2];
  std::uint32_t* ranks;
  std::uint64_t* bits;

  static std::int64_t bytes(std::int64_t area, std::int64_t element_bytes) {
    return 2 * Arena::bytes_for(area * element_bytes) + 3 * Arena::bytes_for(area * 4) +
           Arena::bytes_for((area / 64 + 1) * 8);
  }

  MovingWindowScratch(Arena& arena, std::int64_t area)
      : keys{arena.allocate<Key>(area), arena.allocate<Key>(area)},
        positions{arena.allocate<std::uint32_t>(area), arena.allocate<std::uint32_t>(area)},
        ranks(arena.allocate<std::uint32_t>(area)),
        bits(arena.allocate<std::uint64_t>(area / 64 + 1)) {}

  /// Radix sort of keys[0] with their places[0], ascending.
  void sort(std::int64_t count) {
    constexpr int kBits = sizeof(Key) <= 2 ? 8 : 11;
    constexpr Key kMask = Key((1 << kBits) - 1);
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(Key)); shift += kBits) {
      std::array<std::uint32_t, 1 << kBits> begin{};
      for (std::int64_t i = 0; i < count; ++i) ++begin[(keys[0][i] >> shift) & kMask];
      if (begin[(keys[0][0] >> shift) & kMask] == count) continue;
      std::uint32_t sum = 0;
      for (std::uint32_t& bucket : begin) sum += std::exchange(bucket, sum);
      for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t to = begin[(keys[0][i] >> shift) & kMask]++;
        keys[1][to] = keys[0][i];
        positions[1][to] = positions[0][i];
      }
      std::swap(keys[0], keys[1]);
      std::swap(positions[0], positions[1]);
    }
  }
};

/// The window's elements as bits, with a cursor at the word of the last rank found.
class WindowBits {
 public:
  WindowBits(std::uint64_t* bits, std::uint32_t first_nan) : bits_(bits), first_nan_(first_nan) {}

  /// Lets `count` ranks, `step` apart in memory, enter or leave the window.
  void change(const std::uint32_t* ranks, std::int64_t count, std::int64_t step, bool enters) {
    // Local copies: the loop's stores could alias members.
    std::uint64_t* const bits = bits_;
    const std::uint32_t word = word_, first_nan = first_nan_;
    std::int64_t before = 0, nans = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::uint32_t rank = ranks[i * step];
      bits[rank / 64] ^= std::uint64_t{1} << (rank % 64);
      before += rank / 64 < word ? 1 : 0;
      nans += rank >= first_nan ? 1 : 0;
    }
    before_ += enters ? before : -before;
    nans_ += enters ? nans : -nans;
  }
  std::int64_t nans() const noexcept { return nans_; }

  /// The element of this rank among those in the window.
  std::uint32_t find(std::int64_t rank) {
    while (before_ > rank) before_ -= std::popcount(bits_[--word_]);
    for (int bits_of_word; before_ + (bits_of_word = std::popcount(bits_[word_])) <= rank; ++word_)
      before_ += bits_of_word;
    std::uint64_t remaining_bits = bits_[word_];
    for (std::int64_t skip = rank - before_; skip > 0; --skip) remaining_bits &= remaining_bits - 1;
    return static_cast<std::uint32_t>(64 * word_ + std::countr_zero(remaining_bits));
  }

 private:
  std::uint64_t* bits_;
  std::uint32_t first_nan_;
  std::int64_t nans_ = 0, before_ = 0;
  std::uint32_t word_ = 0;
};

/// Computes ranks of one channel of a part of a block.
template <class E>
class MovingWindow {
  using Order = RankKey<E>;

 public:
  /// `input` begins at the channel; `out` is the part's extent.
  MovingWindow(const RankFilter& filter, const RankInput<E>& input, std::int64_t channels, Extent out,
               MovingWindowScratch<E> scratch)
      : filter_(filter),
        input_(input),
        channels_(channels),
        out_(out),
        planes_(filter.window.planes()),
        height_(RankLayout::input_rows(filter.window, out.rows)),
        width_(out.cols + filter.window.cols() - 1),
        scratch_(scratch),
        bits_(scratch.bits, rank_all_elements()) {}

  /// Stores every `channels`-th element of to(row). The window moves down in serpentine order. Calls
  /// `before_row` once per row.
  template <class To, class Between>
  void run(const To& to, const Between& before_row) {
    std::fill_n(scratch_.bits, height_ * width_ / 64 + 1, 0);
    for (std::int64_t col = 0; col < filter_.window.cols(); ++col) change_column(0, col, true);
    for (std::int64_t row = 0; row < out_.rows; ++row) {
      before_row();
      E* const values = to(row);
      const bool reverses = row % 2 == 1;
      if (row > 0) step_down(row, reverses ? out_.cols - 1 : 0);
      for (std::int64_t i = 0; i < out_.cols; ++i) {
        const std::int64_t col = reverses ? out_.cols - 1 - i : i;
        if (i > 0) {
          change_column(row, reverses ? col + filter_.window.cols() : col - 1, false);
          change_column(row, reverses ? col : col + filter_.window.cols() - 1, true);
        }
        values[col * channels_] = result(row, col);
      }
    }
  }

 private:
  /// Index of an element. Columns are contiguous, because the window enters and leaves columns.
  std::uint32_t element_index(std::int64_t row, std::int64_t col) const {
    return static_cast<std::uint32_t>(col * height_ + row);
  }

  std::uint32_t rank_all_elements() {
    const std::int64_t count = height_ * width_;
    for (std::int64_t col = 0; col < width_; ++col) {
      for (std::int64_t row = 0; row < height_; ++row) {
        const std::uint32_t at = element_index(row, col);
        scratch_.keys[0][at] = Order::encode(input_.row(row)[col * channels_]);
        scratch_.positions[0][at] = at;
      }
    }
    scratch_.sort(count);
    std::int64_t numbers = count;
    if constexpr (std::is_floating_point_v<E>)
      while (numbers > 0 && scratch_.keys[0][numbers - 1] == Order::kNan) --numbers;
    for (std::int64_t rank = 0; rank < count; ++rank)
      scratch_.ranks[scratch_.positions[0][rank]] = static_cast<std::uint32_t>(rank);
    return static_cast<std::uint32_t>(numbers);
  }

  void change_column(std::int64_t row, std::int64_t col, bool enters) {
    bits_.change(scratch_.ranks + element_index(row * planes_, col), filter_.window.lines(), 1, enters);
  }

  void step_down(std::int64_t row, std::int64_t first_col) {
    const std::uint32_t* ranks = scratch_.ranks + element_index((row - 1) * planes_, first_col);
    for (std::int64_t plane = 0; plane < planes_; ++plane, ++ranks) {
      bits_.change(ranks, filter_.window.cols(), height_, false);
      bits_.change(ranks + filter_.window.lines(), filter_.window.cols(), height_, true);
    }
  }

  E result(std::int64_t row, std::int64_t col) {
    std::int64_t rank = filter_.rank;
    if constexpr (std::is_floating_point_v<E>) {
      constexpr E kMissing = std::numeric_limits<E>::quiet_NaN();
      if (const std::int64_t nans = bits_.nans(); nans > 0) {
        const std::int64_t valid_count = filter_.window.area() - nans;
        if (valid_count == 0 || filter_.missing == RankMissing::propagate) return kMissing;
        const RankWindow& window = filter_.window;
        const E centre =
            input_.row((row + window.up) * planes_ + window.front)[(col + window.left) * channels_];
        if (filter_.missing == RankMissing::ignore && std::isnan(centre)) return kMissing;
        rank = filter_.rank_of(valid_count);
      }
    }
    const E value = Order::decode(scratch_.keys[0][bits_.find(rank)]);
    return std::is_floating_point_v<E> ? static_cast<E>(value + E(0)) : value;
  }

  const RankFilter& filter_;
  RankInput<E> input_;
  std::int64_t channels_;
  Extent out_;
  std::int64_t planes_, height_, width_;
  MovingWindowScratch<E> scratch_;
  WindowBits bits_;
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
