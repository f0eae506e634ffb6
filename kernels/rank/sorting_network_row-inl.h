// Runs a sorting network over a piece of a row: each comparison over all of its pixels, vector by vector.
// Included once per target.
#if defined(SEPCONV_ORDER_RUN_NETWORK_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SEPCONV_ORDER_RUN_NETWORK_INL_H
#undef SEPCONV_ORDER_RUN_NETWORK_INL_H
#else
#define SEPCONV_ORDER_RUN_NETWORK_INL_H
#endif

#include <hwy/highway.h>

#include "kernels/rank/rank_block.hpp"
#include "kernels/rank/sorting_network.hpp"
#include "kernels/simd/targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace sepconv::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Results may overwrite operands: later reads are further right.
template <class E>
HWY_INLINE void compare(const E* a, const E* b, E* low, E* high, std::int64_t count) {
  const hn::ScalableTag<E> d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (low != nullptr && high != nullptr) {
    for (std::int64_t i = 0; i < count; i += lanes) {
      const auto va = hn::LoadU(d, a + i), vb = hn::LoadU(d, b + i);
      hn::StoreU(hn::Min(va, vb), d, low + i);
      hn::StoreU(hn::Max(va, vb), d, high + i);
    }
  } else if (low != nullptr) {
    for (std::int64_t i = 0; i < count; i += lanes)
      hn::StoreU(hn::Min(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, low + i);
  } else {
    for (std::int64_t i = 0; i < count; i += lanes)
      hn::StoreU(hn::Max(hn::LoadU(d, a + i), hn::LoadU(d, b + i)), d, high + i);
  }
}

/// Turns -0 into +0.
template <class D, class V>
HWY_INLINE V without_sign_of_zero(D d, V v) {
  if constexpr (hwy::IsFloat<hn::TFromD<D>>()) return hn::Add(v, hn::Zero(d));
  return v;
}

/// Stores a vector as the elements of a row from i on, up to `count`.
template <class D, class V, class E>
HWY_INLINE void store_row(V v, D d, E* to, std::int64_t i, std::int64_t count) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  if (i + lanes <= count) return hn::StoreU(v, d, to + i);
  HWY_ALIGN E last[hn::MaxLanes(d)];
  hn::Store(v, d, last);
  std::copy_n(last, count - i, to + i);
}

/// Runs the network on rows, piece by piece.
template <class E>
class NetworkRow {
 public:
  static std::int64_t piece_elements(const SortingNetwork& network, std::int64_t channels) {
    const auto size = static_cast<std::int64_t>(sizeof(E));
    const std::int64_t bytes =
        std::max(RankTuning::kNetworkBytes / network.slots() - (network.cols() - 1) * channels * size,
                 RankTuning::kMinBytes);
    return std::min(bytes / kAlignment * kAlignment / size, RankTuning::kBlockElements);
  }
  static std::int64_t slot_pitch(const SortingNetwork& network, std::int64_t channels) {
    return round_up(
        piece_elements(network, channels) + (network.cols() - 1) * channels + RankTuning::kSlackElements,
        kAlignment);
  }

  NetworkRow(const SortingNetwork& network, std::int64_t channels, Arena& arena)
      : network_(network), channels_(channels), piece_(piece_elements(network, channels)) {
    const std::int64_t pitch = slot_pitch(network, channels), rows = network.rows();
    E* const memory = arena.allocate<E>((network.slots() - rows) * pitch);
    slots_ = arena.allocate<E*>(network.slots());
    for (std::int64_t i = rows; i < network.slots(); ++i) slots_[i] = memory + (i - rows) * pitch;
  }

  /// Computes elements [0, count) from the rows of `input`.
  void run(const RankInput<E>& input, std::int64_t count, E* to) const {
    for (std::int64_t at = 0; at < count; at += piece_) {
      for (std::int64_t row = 0; row < network_.rows(); ++row)
        slots_[row] = const_cast<E*>(input.row(row)) + at;
      run_piece(std::min(piece_, count - at), to + at);
    }
  }

 private:
  E* at(const ShiftedSlot& value) const { return slots_[value.slot] + value.shift * channels_; }
  E* target(std::int32_t slot) const { return slot < 0 ? nullptr : slots_[slot]; }

  void run_piece(std::int64_t count, E* to) const {
    for (const SortingNetwork::Comparison& comparison : network_.comparisons())
      compare<E>(at(comparison.a), at(comparison.b), target(comparison.low), target(comparison.high),
                 count + comparison.more * channels_);
    const hn::ScalableTag<E> d;
    const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
    const SortingNetwork::Term* const terms = network_.terms().data();
    const std::size_t term_count = network_.terms().size();
    for (std::int64_t i = 0; i < count; i += lanes) {
      auto minimum = hn::Max(hn::LoadU(d, at(terms[0].a) + i), hn::LoadU(d, at(terms[0].b) + i));
      for (std::size_t k = 1; k < term_count; ++k)
        minimum =
            hn::Min(minimum, hn::Max(hn::LoadU(d, at(terms[k].a) + i), hn::LoadU(d, at(terms[k].b) + i)));
      store_row(without_sign_of_zero(d, minimum), d, to, i, count);
    }
  }

  const SortingNetwork& network_;
  std::int64_t channels_, piece_;
  E** slots_;
};

}  // namespace sepconv::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
