// The row pass of many taps, by vectors whose lanes are columns far apart. Included once per target.
//
// A vector of neighbours needs, for every tap, another vector that begins an element later and so crosses a cache line: loads, not multiply-adds, would set the
// pace. Here a row of lanes x length elements is cut into as many teeth as a vector has lanes, `length` elements each; vector j of the comb holds element j of
// every tooth. The next tap then needs vector j + 1, which is aligned, and the pass is a column pass down the comb: one load serves as many sums as the
// registers hold. Two rows go side by side, so that they share the taps.
#if defined(SEPCONV_CONV_COMB_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_CONV_COMB_INL_H
#undef SEPCONV_CONV_COMB_INL_H
#else
#define SEPCONV_CONV_COMB_INL_H
#endif

#include "sepconv/kernels/conv/passes-inl.h"
#include "sepconv/kernels/conv/strips.hpp"
#include "sepconv/kernels/simd/squares-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {

#if HWY_TARGET == HWY_SCALAR

/// A vector of one lane crosses nothing.
template <class A>
class Comb {
 public:
  Comb(Taps<A>, std::int64_t, Arena&) {}
  static bool pays(Taps<A>, std::int64_t, std::int64_t) { return false; }
  std::int64_t read() const { return 0; }
  void spread(int, const A*) const {}
  void pass() const {}
  void gather(int, A*) const {}
};

#else

template <class A>
class Comb {
 public:
  static constexpr int kRows = 2;

  /// Whether that is faster than row_pass of `count` elements of pixels of so many channels.
  static bool pays(Taps<A> taps, std::int64_t channels, std::int64_t count) {
    const std::int64_t rounded = round_up(count, kLanes * kLanes);
    return CombLayout::is_for(taps.count, channels, sizeof(A)) && 4 * rounded <= 5 * count;  // not half made up
  }

  /// For rows of `count` elements. Scratch comes from `arena` and is CombLayout's.
  Comb(Taps<A> taps, std::int64_t count, Arena& arena)
      : taps_(taps), length_(round_up(ceil_div(count, kLanes), kLanes)), span_(round_up(length_ + taps.count - 1, kSide)) {
    const CombLayout layout(count, taps.count);
    spread_ = arena.allocate<A>(layout.spread_elements);
    sums_ = arena.allocate<A>(layout.sums_elements);
    window_ = arena.allocate<const A*>(layout.window_rows);
    for (std::int64_t j = 0; j < length_ + taps.count - 1; ++j) window_[j] = spread_ + j * kPitch;
  }

  /// Elements that spread() reads of a row.
  std::int64_t read() const { return (kLanes - 1) * length_ + span_; }

  /// Takes read() elements of row `side` of the kRows, those under the taps of the row's first element first.
  void spread(int side, const A* from) const {
    A* const to = spread_ + side * kLanes;
    for (std::int64_t j = 0; j < span_; j += kSide) transpose(from + j, length_, to + j * kPitch, kPitch);
  }

  /// What row_pass does, to all that was spread.
  void pass() const { column_pass_rows<RegisterBlocks::kColRows>(taps_, window_, length_, kPitch, sums_, kPitch); }

  /// Row `side` of the result: the row's elements, rounded up to a multiple of the lanes squared.
  void gather(int side, A* to) const {
    const A* const from = sums_ + side * kLanes;
    for (std::int64_t j = 0; j < length_; j += kLanes) {
      for (std::int64_t lane = 0; lane < kLanes; lane += kSide) transpose(from + j * kPitch + lane, kPitch, to + lane * length_ + j, length_);
    }
  }

 private:
  using D = hn::ScalableTag<A>;
  static constexpr std::int64_t kLanes = hn::MaxLanes(D());
  static constexpr std::int64_t kPitch = kRows * kLanes;
  static constexpr std::int64_t kSide = square_side<D>();

  /// As many rows as a vector has lanes, 16 bytes of each, become columns.
  static HWY_INLINE void transpose(const A* from, std::int64_t from_pitch, A* to, std::int64_t to_pitch) {
    const D d;
    constexpr std::int64_t kSize = sizeof(A);
    hn::Vec<D> v[kSide];
    SEPCONV_UNROLL for (int i = 0; i < kSide; ++i) {
      v[i] = load_blocks(d, reinterpret_cast<const std::byte*>(from + i * from_pitch), kSide * from_pitch * kSize);
    }
    transpose_squares(d, v);
    SEPCONV_UNROLL for (int i = 0; i < kSide; ++i) hn::StoreU(v[i], d, to + i * to_pitch);
  }

  Taps<A> taps_;
  std::int64_t length_, span_;  ///< of a tooth: sums, and elements under their taps
  A* spread_;
  A* sums_;
  const A** window_;
};

#endif  // HWY_TARGET
}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
