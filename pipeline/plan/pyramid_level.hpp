// One smaller level of a result on its way to its sink. Internal to plan/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "core/worker.hpp"
#include "io/checkpoint.hpp"
#include "io/resumable.hpp"
#include "io/writer.hpp"
#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// The least multiple of this many rows that two of the larger level's make each of.
constexpr std::int64_t even_multiple(std::int64_t rows) noexcept { return rows % 2 == 0 ? rows : 2 * rows; }

/// Gathers rows until they make what its sink takes; in a result that is made in several runs those that wait
/// are kept in a file, too.
class PyramidLevel {
 public:
  /// The `index`-th, from 1 on: the stage `reduce:factor=2` of `larger`, or the first pixel of each of its
  /// cells (SinkLayout::nearest_levels). `partial` may be null.
  PyramidLevel(Writer& sink, int index, const ImageSpec& larger, const MissingPixels& missing,
               std::shared_ptr<Checkpoint> partial, bool nearest);

  const ImageSpec& spec() const noexcept { return specs_.back(); }
  const OverviewRows& rows() const noexcept { return rows_; }
  /// Parts write no row of it, but keep all: those that follow are made of them in the end.
  void keep_all() noexcept { rows_.unit = 0; }
  std::int64_t held_rows() const noexcept { return held_rows_; }
  std::int64_t buffered_bytes() const noexcept { return held_rows_ * spec().row_bytes(); }
  std::int64_t scratch_bytes() const;
  std::int64_t bytes(int concurrency) const { return sink_.buffer_bytes(concurrency) + buffered_bytes(); }

  /// Takes rows of the larger level from `row` on, which is even, an even number unless they are its last.
  /// Calls full(first, rows) with those of this one whenever they were written or kept.
  template <class Full>
  void take(std::int64_t row, const ConstPixelView& rows, Executor& executor, std::vector<Worker>& workers,
            const Full& full) {
    for (std::int64_t done = 0; done < rows.extent.rows;) {
      const std::int64_t count = std::min(2 * (stop() - end_), rows.extent.rows - done);
      add({rows.crop({done, 0, count, rows.extent.cols}),
           {row + done, 0, count, rows.extent.cols},
           specs_.front().extent},
          executor, workers);
      done += count;
      if (end_ < stop()) continue;
      const std::int64_t first = first_;
      full(first, pass_on(executor));
    }
  }

  // For a result that is made in one run after another.

  /// What was written, and rows that were not kept before.
  WriterState take_state();
  void restore(const WriterState& state, const std::filesystem::path& rows, Executor& executor);

  // For one that is made in parts, of which finish takes one after another.

  void begin_part(const PartRows& part);
  /// What was kept of it.
  WriterState take_kept() { return {.places = std::exchange(kept_, {})}; }
  void add_part(const PartRows& part, std::vector<std::int64_t> kept, const std::filesystem::path& rows) {
    parts_.push_back({part, std::move(kept), rows});
  }
  /// Goes to `end` by what parts have written or kept, and calls full(first, rows) as take() would, of which
  /// only those are there that were kept.
  template <class Full>
  void go_to(std::int64_t end, Executor& executor, const Full& full) {
    while (end_ < end) {
      const Part& part = part_at_end();
      const std::int64_t next = std::min({stop(), end, part.rows.end});
      if (!is_own(end_)) fetch(part.kept, part.file, end_, next);
      end_ = next;
      if (end_ < stop()) continue;
      const std::int64_t first = first_;
      full(first, pass_on(executor));
    }
  }

 private:
  bool makes_part() const noexcept { return partial_ && partial_->use() == Checkpoint::Use::part; }
  bool is_own(std::int64_t row) const noexcept { return part_.own_begin <= row && row < part_.own_end; }
  std::int64_t stop() const noexcept;
  struct Part {
    PartRows rows;
    std::vector<std::int64_t> kept;
    std::filesystem::path file;
  };
  const Part& part_at_end();
  void hold();
  void add(const ConstRegion& in, Executor& executor, std::vector<Worker>& workers);
  ConstPixelView held() const;
  void keep(std::int64_t from);
  void fetch(std::span<const std::int64_t> kept, const std::filesystem::path& rows, std::int64_t from,
             std::int64_t to);
  ConstPixelView pass_on(Executor& executor);

  Writer& sink_;
  bool nearest_;
  OverviewRows rows_;
  std::shared_ptr<Checkpoint> partial_;
  Chain chain_;
  std::vector<ImageSpec> specs_;
  Arithmetic arithmetic_;
  std::int64_t held_rows_ = 0;
  Buffer held_;
  std::int64_t first_ = 0, end_ = 0;  // rows that are held
  PartRows part_;                     // at hand
  std::deque<Part> parts_;
  std::vector<std::int64_t> kept_;  // first row, end and offset, in turns
  std::int64_t kept_end_ = 0;
};

}  // namespace sepconv
