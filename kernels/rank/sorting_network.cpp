#include "kernels/rank/sorting_network.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

namespace sepconv {
namespace {

using Comparison = SortingNetwork::Comparison;
using Term = SortingNetwork::Term;
/// A value before slots are assigned: `slot` 2 i is the lower result of comparison i, 2 i + 1 the higher one;
/// those of the rows are negative.
using Value = ShiftedSlot;
using List = std::vector<Value>;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Records comparisons in order of execution.
class Builder {
 public:
  static Value row_value(std::int64_t row) { return {static_cast<std::int32_t>(-1 - row), 0}; }

  void compare(Value& a, Value& b) {
    const std::int32_t shift = std::min(a.shift, b.shift);
    const auto i = static_cast<std::int32_t>(comparisons_.size());
    comparisons_.push_back({{a.slot, a.shift - shift}, {b.slot, b.shift - shift}});
    a = {2 * i, shift};
    b = {2 * i + 1, shift};
  }

  /// Batcher's odd-even merge of sorted lists of any lengths.
  List merge(const List& a, const List& b) {
    if (a.empty()) return b;
    if (b.empty()) return a;
    if (a.size() == 1 && b.size() == 1) {
      List both{a[0], b[0]};
      compare(both[0], both[1]);
      return both;
    }
    const List even = merge(every_other(a, 0), every_other(b, 0));
    const List odd = merge(every_other(a, 1), every_other(b, 1));
    return interleaved(even, odd);
  }

  List sort(const List& values) {
    if (values.size() < 2) return values;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    return merge(sort({values.begin(), middle}), sort({middle, values.end()}));
  }

  std::vector<Comparison>& comparisons() { return comparisons_; }

 private:
  static List every_other(const List& list, std::size_t first) {
    List half;
    for (std::size_t i = first; i < list.size(); i += 2) half.push_back(list[i]);
    return half;
  }

  /// e0, then (e1, o0), (e2, o1) and so on, each pair sorted.
  List interleaved(const List& even, const List& odd) {
    List merged{even[0]};
    for (std::size_t i = 0; i < odd.size(); ++i) {
      if (i + 1 == even.size()) {
        merged.push_back(odd[i]);
        continue;
      }
      Value low = even[i + 1], high = odd[i];
      compare(low, high);
      merged.push_back(low);
      merged.push_back(high);
    }
    for (std::size_t i = odd.size() + 1; i < even.size(); ++i) merged.push_back(even[i]);
    return merged;
  }

  std::vector<Comparison> comparisons_;
};

List shifted(List list, std::int64_t cols) {
  for (Value& value : list) value.shift += static_cast<std::int32_t>(cols);
  return list;
}

/// Sorted lists of columns, each computed once.
class Columns {
 public:
  Columns(Builder& builder, std::int64_t rows, bool by_halves) : builder_(builder), by_halves_(by_halves) {
    List column;
    for (std::int64_t row = 0; row < rows; ++row) column.push_back(Builder::row_value(row));
    lists_[1] = builder_.sort(column);
  }

  const List& sorted_list(std::int64_t cols) {
    const auto found = lists_.find(cols);
    if (found != lists_.end()) return found->second;
    std::int64_t first = (cols + 1) / 2;
    if (!by_halves_)
      for (first = 1; 2 * first < cols;) first *= 2;
    const List a = sorted_list(first);
    const List b = shifted(sorted_list(cols - first), first);
    return lists_[cols] = builder_.merge(a, b);
  }

 private:
  Builder& builder_;
  bool by_halves_;
  std::map<std::int64_t, List> lists_;
};

/// Element `rank` of the union of both lists is the minimum of these terms. The rank + 1 smallest elements
/// are the first i of one list and the first rank + 1 - i of the other, for the i with the smallest maximum.
std::vector<Term> select(const List& a, const List& b, std::int64_t rank) {
  std::vector<Term> terms;
  const auto size_a = static_cast<std::int64_t>(a.size()), size_b = static_cast<std::int64_t>(b.size());
  for (std::int64_t i = std::max<std::int64_t>(0, rank + 1 - size_b); i <= std::min(size_a, rank + 1); ++i) {
    const std::int64_t j = rank + 1 - i;
    const Value& last_a = i > 0 ? a[index(i - 1)] : b[index(j - 1)];
    const Value& last_b = j > 0 ? b[index(j - 1)] : last_a;
    terms.push_back({last_a, last_b});
  }
  return terms;
}

/// A network before slots are assigned, and which values are needed.
struct Draft {
  std::vector<Comparison> comparisons;
  std::vector<Term> terms;
  std::vector<std::int32_t> extra_pixels;  ///< extra pixels needed of each value; negative: not needed

  void need(const Value& value, std::int32_t extra) {
    if (value.slot >= 0)
      extra_pixels[index(value.slot)] = std::max(extra_pixels[index(value.slot)], value.shift + extra);
  }

  void find_needed() {
    extra_pixels.assign(2 * comparisons.size(), -1);
    for (const Term& term : terms) need(term.a, 0), need(term.b, 0);
    for (std::size_t i = comparisons.size(); i-- > 0;) {
      const std::int32_t extra = std::max(extra_pixels[2 * i], extra_pixels[2 * i + 1]);
      comparisons[i].more = extra;
      if (extra < 0) continue;
      need(comparisons[i].a, extra);
      need(comparisons[i].b, extra);
    }
  }

  std::int64_t operations() const {
    const auto needed = std::ranges::count_if(extra_pixels, [](std::int32_t extra) { return extra >= 0; });
    return needed + static_cast<std::int64_t>(terms.size());
  }
};

Draft draft_of(std::int64_t rows, std::int64_t cols, std::int64_t rank, std::int64_t first, bool by_halves) {
  Builder builder;
  Columns columns(builder, rows, by_halves);
  const List a = columns.sorted_list(first);
  const List b = first == cols ? List{} : shifted(columns.sorted_list(cols - first), first);
  Draft draft{.comparisons = {}, .terms = select(a, b, rank), .extra_pixels = {}};
  draft.comparisons = std::move(builder.comparisons());
  draft.find_needed();
  return draft;
}

/// The draft with the fewest operations; for small windows over all splits of the columns in two.
Draft best_draft(std::int64_t rows, std::int64_t cols, std::int64_t rank) {
  constexpr std::int64_t kMaxExhaustiveValues = 600;  // values
  Draft best = draft_of(rows, cols, rank, (cols + 1) / 2, true);
  if (rows * cols > kMaxExhaustiveValues) return best;
  for (std::int64_t first = (cols + 1) / 2; first <= cols; ++first) {
    for (const bool by_halves : {true, false}) {
      Draft draft = draft_of(rows, cols, rank, first, by_halves);
      if (draft.operations() < best.operations()) best = std::move(draft);
    }
  }
  return best;
}

/// Assigns slots to values and reuses them after a value's last use.
class Slots {
 public:
  Slots(std::int64_t rows, const Draft& draft) : rows_(static_cast<std::int32_t>(rows)), next_(rows_) {
    slots_.assign(draft.extra_pixels.size(), SortingNetwork::kNone);
    uses_.assign(draft.extra_pixels.size(), 0);
    for (const Term& term : draft.terms) use(term.a), use(term.b);
    for (const Comparison& comparison : draft.comparisons)
      if (comparison.more >= 0) use(comparison.a), use(comparison.b);
  }

  Value release(const Value& value) {
    if (value.slot < 0) return {-1 - value.slot, value.shift};
    const std::int32_t slot = slots_[index(value.slot)];
    if (--uses_[index(value.slot)] == 0) free_slots_.push_back(slot);
    return {slot, value.shift};
  }

  std::int32_t assign(std::size_t value, bool needed) {
    if (!needed) return SortingNetwork::kNone;
    if (free_slots_.empty()) return slots_[value] = next_++;
    slots_[value] = free_slots_.back();
    free_slots_.pop_back();
    return slots_[value];
  }

  std::int64_t count() const { return next_; }

 private:
  void use(const Value& value) {
    if (value.slot >= 0) ++uses_[index(value.slot)];
  }

  std::int32_t rows_, next_;
  std::vector<std::int32_t> slots_, free_slots_;
  std::vector<int> uses_;
};

}  // namespace

SortingNetwork::SortingNetwork(std::int64_t rows, std::int64_t cols, std::int64_t rank)
    : rows_(rows), cols_(cols) {
  const Draft draft = best_draft(rows, cols, rank);
  Slots slots(rows, draft);
  for (std::size_t i = 0; i < draft.comparisons.size(); ++i) {
    Comparison comparison = draft.comparisons[i];
    if (comparison.more < 0) continue;
    comparison.a = slots.release(comparison.a);
    comparison.b = slots.release(comparison.b);
    comparison.low = slots.assign(2 * i, draft.extra_pixels[2 * i] >= 0);
    comparison.high = slots.assign(2 * i + 1, draft.extra_pixels[2 * i + 1] >= 0);
    comparisons_.push_back(comparison);
  }
  for (const Term& term : draft.terms) terms_.push_back({slots.release(term.a), slots.release(term.b)});
  slots_ = slots.count();
}

std::int64_t SortingNetwork::operations() const noexcept {
  std::int64_t count = static_cast<std::int64_t>(2 * terms_.size());
  for (const Comparison& comparison : comparisons_)
    count += (comparison.low == kNone ? 0 : 1) + (comparison.high == kNone ? 0 : 1);
  return count;
}

}  // namespace sepconv
