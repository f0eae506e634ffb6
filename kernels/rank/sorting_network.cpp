#include "kernels/rank/sorting_network.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>

namespace sepconv {
namespace {

using Comparison = SortingNetwork::Comparison;
using Term = SortingNetwork::Term;
/// For values, before they are given slots: value 2 i is the lower one of comparison i, 2 i + 1 the higher
/// one; those of the rows are negative.
using Value = ShiftedSlot;
using List = std::vector<Value>;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Comparisons of values in the order in which they are made.
class Builder {
 public:
  static Value of_row(std::int64_t row) { return {static_cast<std::int32_t>(-1 - row), 0}; }

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

  /// e0, then e1 with o0, e2 with o1 and so on, each in order.
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

/// Lists of sorted columns, each made once.
class Columns {
 public:
  Columns(Builder& builder, std::int64_t rows, bool by_halves) : builder_(builder), by_halves_(by_halves) {
    List column;
    for (std::int64_t row = 0; row < rows; ++row) column.push_back(Builder::of_row(row));
    lists_[1] = builder_.sort(column);
  }

  const List& of(std::int64_t cols) {
    const auto found = lists_.find(cols);
    if (found != lists_.end()) return found->second;
    std::int64_t first = (cols + 1) / 2;
    if (!by_halves_)
      for (first = 1; 2 * first < cols;) first *= 2;
    const List a = of(first);
    const List b = shifted(of(cols - first), first);
    return lists_[cols] = builder_.merge(a, b);
  }

 private:
  Builder& builder_;
  bool by_halves_;
  std::map<std::int64_t, List> lists_;
};

/// Element `rank` of both lists is the least of these: i elements of one and rank + 1 - i of the other are
/// the first rank + 1, for the i where the greatest of them is least.
std::vector<Term> select(const List& a, const List& b, std::int64_t rank) {
  std::vector<Term> terms;
  const auto have_a = static_cast<std::int64_t>(a.size()), have_b = static_cast<std::int64_t>(b.size());
  for (std::int64_t i = std::max<std::int64_t>(0, rank + 1 - have_b); i <= std::min(have_a, rank + 1); ++i) {
    const std::int64_t j = rank + 1 - i;
    const Value& last_a = i > 0 ? a[index(i - 1)] : b[index(j - 1)];
    const Value& last_b = j > 0 ? b[index(j - 1)] : last_a;
    terms.push_back({last_a, last_b});
  }
  return terms;
}

/// A network with values for slots, and what is needed of each.
struct Draft {
  std::vector<Comparison> comparisons;
  std::vector<Term> terms;
  std::vector<std::int32_t> more;  ///< of each value; less than 0: not needed

  void need(const Value& value, std::int32_t beyond) {
    if (value.slot >= 0) more[index(value.slot)] = std::max(more[index(value.slot)], value.shift + beyond);
  }

  void find_needed() {
    more.assign(2 * comparisons.size(), -1);
    for (const Term& term : terms) need(term.a, 0), need(term.b, 0);
    for (std::size_t i = comparisons.size(); i-- > 0;) {
      const std::int32_t beyond = std::max(more[2 * i], more[2 * i + 1]);
      comparisons[i].more = beyond;
      if (beyond < 0) continue;
      need(comparisons[i].a, beyond);
      need(comparisons[i].b, beyond);
    }
  }

  std::int64_t operations() const {
    const auto needed = std::ranges::count_if(more, [](std::int32_t beyond) { return beyond >= 0; });
    return needed + static_cast<std::int64_t>(terms.size());
  }
};

Draft draft_of(std::int64_t rows, std::int64_t cols, std::int64_t rank, std::int64_t first, bool by_halves) {
  Builder builder;
  Columns columns(builder, rows, by_halves);
  const List a = columns.of(first);
  const List b = first == cols ? List{} : shifted(columns.of(cols - first), first);
  Draft draft{.comparisons = {}, .terms = select(a, b, rank), .more = {}};
  draft.comparisons = std::move(builder.comparisons());
  draft.find_needed();
  return draft;
}

/// For all ways to cut the window in two, of few columns, the one of the fewest operations.
Draft best_draft(std::int64_t rows, std::int64_t cols, std::int64_t rank) {
  constexpr std::int64_t kTryAll = 600;  // values
  Draft best = draft_of(rows, cols, rank, (cols + 1) / 2, true);
  if (rows * cols > kTryAll) return best;
  for (std::int64_t first = (cols + 1) / 2; first <= cols; ++first) {
    for (const bool by_halves : {true, false}) {
      Draft draft = draft_of(rows, cols, rank, first, by_halves);
      if (draft.operations() < best.operations()) best = std::move(draft);
    }
  }
  return best;
}

/// Gives values slots, and those that nothing needs any more to others.
class Slots {
 public:
  Slots(std::int64_t rows, const Draft& draft) : rows_(static_cast<std::int32_t>(rows)), next_(rows_) {
    slots_.assign(draft.more.size(), SortingNetwork::kNone);
    uses_.assign(draft.more.size(), 0);
    for (const Term& term : draft.terms) use(term.a), use(term.b);
    for (const Comparison& one : draft.comparisons)
      if (one.more >= 0) use(one.a), use(one.b);
  }

  Value take(const Value& value) {
    if (value.slot < 0) return {-1 - value.slot, value.shift};
    const std::int32_t slot = slots_[index(value.slot)];
    if (--uses_[index(value.slot)] == 0) free_.push_back(slot);
    return {slot, value.shift};
  }

  std::int32_t give(std::size_t value, bool needed) {
    if (!needed) return SortingNetwork::kNone;
    if (free_.empty()) return slots_[value] = next_++;
    slots_[value] = free_.back();
    free_.pop_back();
    return slots_[value];
  }

  std::int64_t count() const { return next_; }

 private:
  void use(const Value& value) {
    if (value.slot >= 0) ++uses_[index(value.slot)];
  }

  std::int32_t rows_, next_;
  std::vector<std::int32_t> slots_, free_;
  std::vector<int> uses_;
};

}  // namespace

SortingNetwork::SortingNetwork(std::int64_t rows, std::int64_t cols, std::int64_t rank)
    : rows_(rows), cols_(cols) {
  const Draft draft = best_draft(rows, cols, rank);
  Slots slots(rows, draft);
  for (std::size_t i = 0; i < draft.comparisons.size(); ++i) {
    Comparison one = draft.comparisons[i];
    if (one.more < 0) continue;
    one.a = slots.take(one.a);
    one.b = slots.take(one.b);
    one.low = slots.give(2 * i, draft.more[2 * i] >= 0);
    one.high = slots.give(2 * i + 1, draft.more[2 * i + 1] >= 0);
    comparisons_.push_back(one);
  }
  for (const Term& term : draft.terms) terms_.push_back({slots.take(term.a), slots.take(term.b)});
  slots_ = slots.count();
}

std::int64_t SortingNetwork::operations() const noexcept {
  std::int64_t count = static_cast<std::int64_t>(2 * terms_.size());
  for (const Comparison& one : comparisons_)
    count += (one.low == kNone ? 0 : 1) + (one.high == kNone ? 0 : 1);
  return count;
}

}  // namespace sepconv
