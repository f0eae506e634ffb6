#include "pipeline/job/pyramid_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "pipeline/job/pyramid_level.hpp"

namespace sepconv {
namespace {

/// Minimum rows of a part: lower block rows do not limit the number of levels that parts compute.
constexpr std::int64_t kMinPartRows = 64;

class PyramidWriter final : public Writer, private ResumableWriter {
 public:
  PyramidWriter(std::unique_ptr<Writer> image, MissingPixels missing,
                const std::shared_ptr<Checkpoint>& checkpoint)
      : image_(std::move(image)), checkpoint_(checkpoint), layout_(image_->layout()) {
    missing = missing.stored_in(layout_);
    if (missing.rounding_may_collide() && !layout_.nearest_levels)
      throw InvalidArgument(fmt::format(
          "smaller levels of {} elements are rounded when they are stored, so that what is there could "
          "become missing; make none with OutputOptions::pyramid = false, take single pixels with "
          "OutputOptions::nearest_levels, or end the chain with cast:type={}",
          name_of(*missing.stored), name_of(missing.stored->pixels())));
    const ImageSpec* larger = &image_->spec();
    levels_.reserve(image_->levels().size());
    for (Writer* const sink : image_->levels())
      larger = &levels_
                    .emplace_back(*sink, static_cast<int>(levels_.size()) + 1, *larger, missing, checkpoint,
                                  layout_.nearest_levels)
                    .spec();
    const Extent unit = layout_.unit();
    row_step_ = round_up(2 * levels_.front().buffered_rows(), even_multiple(unit.rows));
    layout_.access = Access::sequential;
    layout_.partial_blocks = false;
    layout_.coded.reset();  // levels are computed from pixels
    layout_.block = {even_multiple(unit.rows), unit.cols};
    cut_for_parts();
  }

  const ImageSpec& spec() const noexcept override { return image_->spec(); }
  const SinkLayout& layout() const noexcept override { return layout_; }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    ensure_workers(executor);
    for (std::int64_t row = rect.row; row < rect.row_end();) {
      const std::int64_t end = std::min((row / row_step_ + 1) * row_step_, rect.row_end());
      const ConstPixelView rows = in.crop({row - rect.row, 0, end - row, rect.cols});
      image_->write({row, 0, end - row, rect.cols}, rows, executor);
      if (is_part_run()) note_written(end);
      fill(0, row, rows, executor);
      row = end;
    }
  }

  ResumableWriter* resumable() noexcept override { return image_->resumable() != nullptr ? this : nullptr; }

  void prepare_finish() override { image_->prepare_finish(); }
  void finish() override { image_->finish(); }

  std::int64_t buffer_bytes(int concurrency) const override {
    std::int64_t bytes = image_->buffer_bytes(concurrency) + concurrency * scratch_bytes();
    for (const PyramidLevel& level : levels_) bytes += level.bytes(concurrency);
    return bytes;
  }

 private:
  /// Sets the number of levels that parts compute: those in which every row of blocks ends at a whole row.
  void cut_for_parts() {
    const std::int64_t block = layout_.shard.empty() ? layout_.block.rows : even_multiple(layout_.shard.rows);
    const auto rows = [&](std::size_t levels) { return std::lcm(block, std::int64_t{1} << levels); };
    while (part_levels_ < levels_.size() && rows(part_levels_ + 1) <= std::max(block, kMinPartRows))
      ++part_levels_;
    if (part_levels_ < levels_.size()) levels_[part_levels_ - 1].save_all_rows();
    for (std::size_t i = 0; i < part_levels_; ++i) layout_.levels.push_back(levels_[i].rows());
    if (checkpoint_ && checkpoint_->use() != Checkpoint::Use::alone)
      layout_.block.rows = std::lcm(layout_.block.rows, std::int64_t{1} << part_levels_);
  }

  bool is_part_run() const noexcept { return checkpoint_ && checkpoint_->use() == Checkpoint::Use::part; }
  ResumableWriter& resumable_image() const { return *image_->resumable(); }

  WriterState take_state() override {
    if (is_part_run()) return take_part_state();
    WriterState state = resumable_image().take_state();
    for (PyramidLevel& level : levels_) state.levels.push_back(level.take_state());
    return state;
  }
  void restore(std::int64_t pixels, const WriterState& state, const StateFiles& files,
               Executor& executor) override {
    if (checkpoint_->use() == Checkpoint::Use::all_parts) return restore_part(state, files, executor);
    resumable_image().restore(pixels, state, files, executor);
    for (std::size_t i = 0; i < levels_.size(); ++i)
      levels_[i].restore(state.levels.at(i), files.rows, executor);
  }
  void mark_rest_written() override { resumable_image().mark_rest_written(); }

  // A part's state consists of the rows at which pieces of the image begin and end (levels are written
  // between pieces), the states of the levels, and the states of the pieces.

  PartRows of_part(const PyramidLevel& level, std::int64_t first_row, std::int64_t end_row) const {
    return level.rows().of_part(first_row, end_row, spec().extent.rows);
  }
  void begin_part(std::int64_t first_row, std::int64_t end_row) override {
    piece_rows_ = {first_row};
    for (std::size_t i = 0; i < part_levels_; ++i)
      levels_[i].begin_part(of_part(levels_[i], first_row, end_row));
  }
  /// Without appending, the order is irrelevant and everything is one piece.
  void note_written(std::int64_t end) {
    if (!pieces_.empty() && !layout_.is_append_only) {
      piece_rows_.back() = end;
      return;
    }
    piece_rows_.push_back(end);
    pieces_.push_back(resumable_image().take_state());
  }
  WriterState take_part_state() {
    WriterState state{.block_positions = std::exchange(piece_rows_, {})};
    if (!layout_.is_append_only && !pieces_.empty()) pieces_.front().add(resumable_image().take_state());
    for (std::size_t i = 0; i < part_levels_; ++i) state.levels.push_back(levels_[i].take_saved());
    for (WriterState& piece : pieces_) state.levels.push_back(std::move(piece));
    pieces_.clear();
    return state;
  }
  void restore_part(const WriterState& state, const StateFiles& files, Executor& executor) {
    ensure_workers(executor);
    const std::vector<std::int64_t>& rows = state.block_positions;
    for (std::size_t i = 0; i < part_levels_; ++i)
      levels_[i].add_part(of_part(levels_[i], rows.at(0), rows.back()), state.levels.at(i).block_positions,
                          files.rows);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      resumable_image().restore((rows[i] - rows[i - 1]) * spec().extent.cols,
                                state.levels.at(part_levels_ + i - 1), files, executor);
      advance_to(0, rows[i], executor);
    }
  }
  /// Advances the levels that parts have computed; further levels are computed from the last of these.
  void advance_to(std::size_t level, std::int64_t larger_end, Executor& executor) {
    levels_[level].advance_to(ceil_div(larger_end, 2), executor,
                              [&](std::int64_t first, const ConstPixelView& level_rows) {
                                if (level + 1 < part_levels_)
                                  advance_to(level + 1, first + level_rows.extent.rows, executor);
                                else
                                  fill(level + 1, first, level_rows, executor);
                              });
  }

  std::int64_t buffered_bytes() const override {
    std::int64_t bytes = 0;
    for (const PyramidLevel& level : levels_) bytes += level.buffered_bytes();
    return bytes;
  }

  void fill(std::size_t level, std::int64_t row, const ConstPixelView& rows, Executor& executor) {
    if (level == (is_part_run() ? part_levels_ : levels_.size())) return;
    levels_[level].add_rows(row, rows, executor, workers_,
                            [&](std::int64_t first, const ConstPixelView& level_rows) {
                              fill(level + 1, first, level_rows, executor);
                            });
  }

  void ensure_workers(const Executor& executor) {
    while (std::ssize(workers_) < executor.concurrency()) workers_.emplace_back(Buffer(scratch_bytes()));
  }
  std::int64_t scratch_bytes() const {
    std::int64_t max_bytes = 0;
    for (const PyramidLevel& level : levels_) max_bytes = std::max(max_bytes, level.scratch_bytes());
    return max_bytes;
  }

  std::unique_ptr<Writer> image_;
  std::shared_ptr<Checkpoint> checkpoint_;
  SinkLayout layout_;
  std::vector<PyramidLevel> levels_;
  std::size_t part_levels_ = 0;
  /// Number of image rows between writes of the first level, regardless of the sizes of write() calls: so
  /// that compressed blocks have a reproducible order.
  std::int64_t row_step_ = 1;
  std::vector<Worker> workers_;
  std::vector<std::int64_t> piece_rows_;
  std::vector<WriterState> pieces_;
};

}  // namespace

std::unique_ptr<Writer> fill_levels(std::unique_ptr<Writer> image, const MissingPixels& missing,
                                    const std::shared_ptr<Checkpoint>& checkpoint) {
  if (image->levels().empty()) return image;
  return std::make_unique<PyramidWriter>(std::move(image), missing, checkpoint);
}

}  // namespace sepconv
