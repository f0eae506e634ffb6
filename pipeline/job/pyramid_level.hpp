// One smaller level of a result, computed and passed to its sink. Internal to job/.
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
#include "io/checkpoint/checkpoint.hpp"
#include "io/resumable.hpp"
#include "io/writer.hpp"
#include "pipeline/chain/graph.hpp"
#include "pipeline/plan/missing.hpp"

namespace sepconv {

/// Smallest even multiple of `rows`.
constexpr std::int64_t even_multiple(std::int64_t rows) noexcept { return rows % 2 == 0 ? rows : 2 * rows; }

/// Computes rows of a level and buffers them until its sink accepts them. For a result made in several runs,
/// buffered rows are also saved in a file.
class PyramidLevel {
 public:
  /// Level `index`, from 1: the stage `reduce:factor=2` of `larger`, or the first pixel of each 2 x 2 cell
  /// (SinkLayout::nearest_levels). `checkpoint` may be null.
  PyramidLevel(Writer& sink, int index, const ImageSpec& larger, const MissingPixels& missing,
               std::shared_ptr<Checkpoint> checkpoint, bool nearest);

  const ImageSpec& spec() const noexcept { return graph_.result(); }
  const OverviewRows& rows() const noexcept { return rows_; }
  /// Parts save all its rows and write none: the finishing process computes the next levels from them.
  void save_all_rows() noexcept { rows_.unit = 0; }
  std::int64_t buffered_rows() const noexcept { return max_buffered_rows_; }
  std::int64_t buffered_bytes() const noexcept { return max_buffered_rows_ * spec().row_bytes(); }
  std::int64_t scratch_bytes() const;
  std::int64_t bytes(int concurrency) const { return sink_.buffer_bytes(concurrency) + buffered_bytes(); }

  /// Adds rows of the larger level from `row` on. `row` is even, and so is their number except at the end.
  /// Calls full(first, rows) with rows of this level whenever they were written or saved.
  template <class Full>
  void add_rows(std::int64_t row, const ConstPixelView& rows, Executor& executor,
                std::vector<Worker>& workers, const Full& full) {
    for (std::int64_t done = 0; done < rows.extent.rows;) {
      const std::int64_t count = std::min(2 * (flush_row() - end_), rows.extent.rows - done);
      add({rows.crop({done, 0, count, rows.extent.cols}),
           {row + done, 0, count, rows.extent.cols},
           graph_.source().extent},
          executor, workers);
      done += count;
      if (end_ < flush_row()) continue;
      const std::int64_t first = first_;
      full(first, flush(executor));
    }
  }

  // For a result that is made in sequential runs.

  /// State of the sink, and rows that were not saved before.
  WriterState take_state();
  void restore(const WriterState& state, const std::filesystem::path& rows, Executor& executor);

  // For a result that is made in parts, which the finishing process reads in order.

  void begin_part(const PartRows& part);
  /// The positions of its saved rows.
  WriterState take_saved() { return {.block_positions = std::exchange(saved_, {})}; }
  void add_part(const PartRows& part, std::vector<std::int64_t> saved, const std::filesystem::path& rows) {
    parts_.push_back({part, std::move(saved), rows});
  }
  /// Advances to row `end` with the rows that parts have written or saved. Calls full(first, rows) as
  /// add_rows() does; only saved rows are valid in `rows`.
  template <class Full>
  void advance_to(std::int64_t end, Executor& executor, const Full& full) {
    while (end_ < end) {
      const Part& part = next_part();
      const std::int64_t next = std::min({flush_row(), end, part.rows.end});
      if (!writes_row(end_)) fetch(part.saved, part.file, end_, next);
      end_ = next;
      if (end_ < flush_row()) continue;
      const std::int64_t first = first_;
      full(first, flush(executor));
    }
  }

 private:
  bool is_part_run() const noexcept { return checkpoint_ && checkpoint_->use() == Checkpoint::Use::part; }
  bool writes_row(std::int64_t row) const noexcept {
    return part_.written_begin <= row && row < part_.written_end;
  }
  std::int64_t flush_row() const noexcept;
  struct Part {
    PartRows rows;
    std::vector<std::int64_t> saved;
    std::filesystem::path file;
  };
  const Part& next_part();
  void allocate_buffer();
  void add(const ConstRegion& in, Executor& executor, std::vector<Worker>& workers);
  ConstPixelView buffered_rows_view() const;
  void save_rows(std::int64_t from);
  void fetch(std::span<const std::int64_t> saved, const std::filesystem::path& rows, std::int64_t from,
             std::int64_t to);
  ConstPixelView flush(Executor& executor);

  Writer& sink_;
  bool nearest_;
  OverviewRows rows_;
  std::shared_ptr<Checkpoint> checkpoint_;
  Chain chain_;
  Graph graph_;
  Arithmetic arithmetic_;
  std::int64_t max_buffered_rows_ = 0;
  Buffer buffer_;
  std::int64_t first_ = 0, end_ = 0;  // buffered rows
  PartRows part_;                     // the current part
  std::deque<Part> parts_;
  std::vector<std::int64_t> saved_;  // first row, end row and file offset of each saved piece
  std::int64_t saved_end_ = 0;
};

}  // namespace sepconv
