#include "sepconv/pipeline/plan/pyramid_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "sepconv/core/error.hpp"
#include "sepconv/core/memory.hpp"
#include "sepconv/core/worker.hpp"
#include "sepconv/io/resumable.hpp"
#include "sepconv/pipeline/chain/chain_tile.hpp"

namespace sepconv {
namespace {

/// What a thread makes of a level at once.
constexpr Extent kTile{64, 1024};
/// Rows that are gathered for a sink that takes any: a number that goes twice into all that follow.
constexpr std::int64_t kGatheredRows = 64;
/// Blocks that are given to a sink at once, so that there is one for each of many threads, and the bytes that
/// may be held for it.
constexpr std::int64_t kBlocksAtOnce = 16;
constexpr std::int64_t kHeldBytes = std::int64_t{4} << 20;

std::int64_t even(std::int64_t rows) { return rows % 2 == 0 ? rows : 2 * rows; }

/// Rows of a level that are gathered for its sink.
std::int64_t rows_to_hold(const ImageSpec& level, const SinkLayout& layout) {
  const std::int64_t least = round_up(kGatheredRows, even(layout.unit().rows));
  const std::int64_t blocks_of_row = ceil_div(level.extent.cols, layout.block.cols);
  const std::int64_t wanted = layout.block.rows * ceil_div(kBlocksAtOnce, blocks_of_row);
  const std::int64_t rows = std::min(wanted, kHeldBytes / level.row_bytes()) / least * least;
  return std::min(std::max(least, rows), level.extent.rows);
}

/// One level on its way to its sink.
class Level {
 public:
  Level(Writer& sink, const ImageSpec& larger, const MissingPixels& missing)
      : sink_(sink),
        chain_(honouring(missing, Chain::parse({"reduce:factor=2"}), larger)),
        specs_(chain_.specs(larger)),
        arithmetic_(chain_.arithmetic(larger)),
        held_rows_(rows_to_hold(sink.spec(), sink.layout())) {}

  const ImageSpec& spec() const noexcept { return specs_.back(); }
  std::int64_t held_rows() const noexcept { return held_rows_; }
  std::int64_t held_bytes() const noexcept { return held_rows_ * spec().row_bytes(); }
  std::int64_t scratch_bytes() const { return tile_scratch_bytes(chain_, specs_, kTile, arithmetic_); }
  std::int64_t bytes(int concurrency) const { return sink_.buffer_bytes(concurrency) + held_bytes(); }

  /// Rows that were written, those that are held, and the sink's own.
  WriterState take_state(std::vector<std::byte>& held) {
    const auto begin = held_.data();
    if (begin != nullptr) held.insert(held.end(), begin, begin + (end_ - first_) * spec().row_bytes());
    WriterState state{.places = {first_, end_}};
    state.levels.push_back(resumable().take_state());
    return state;
  }
  /// `held` begins with this level's rows, which are taken out.
  void restore(const WriterState& state, std::span<const std::byte>& held,
               const std::filesystem::path& file) {
    if (state.places.size() < 2) return;
    const std::int64_t first = state.places.end()[-2];
    resumable().restore((first - first_) * spec().extent.cols, state.levels.at(0), file);
    first_ = first;
    end_ = state.places.back();
    if (held.empty()) return;
    if (held_.size() == 0) held_ = Buffer(held_rows_ * spec().row_bytes());
    const auto own = held.first(static_cast<std::size_t>((end_ - first_) * spec().row_bytes()));
    std::ranges::copy(own, held_.data());
    held = held.subspan(own.size());
  }
  ResumableWriter& resumable() const { return *sink_.resumable(); }

  /// Takes rows of the larger level from `row` on, which is even, an even number unless they are its last.
  /// Calls full(rows) with those of this one whenever they were written.
  template <class Full>
  void take(std::int64_t row, const ConstPixelView& rows, Executor& executor, std::vector<Worker>& workers,
            const Full& full) {
    if (held_.size() == 0) held_ = Buffer(held_rows_ * spec().row_bytes());
    for (std::int64_t done = 0; done < rows.extent.rows;) {
      const std::int64_t room = 2 * (first_ + held_rows_ - end_);
      const std::int64_t count = std::min(room, rows.extent.rows - done);
      add({rows.crop({done, 0, count, rows.extent.cols}),
           {row + done, 0, count, rows.extent.cols},
           specs_.front().extent},
          executor, workers);
      done += count;
      if (end_ < std::min(first_ + held_rows_, spec().extent.rows)) continue;
      const ConstPixelView made = dense_view(held_.data(), spec(), {end_ - first_, spec().extent.cols});
      sink_.write({first_, 0, made.extent.rows, made.extent.cols}, made, executor);
      full(first_, made);
      first_ = end_;
    }
  }

 private:
  void add(const ConstRegion& in, Executor& executor, std::vector<Worker>& workers) {
    const Rect rect{end_, 0, ceil_div(in.rect.rows, 2), spec().extent.cols};
    const Region out{dense_view(held_.data() + (end_ - first_) * spec().row_bytes(), spec(), rect.extent()),
                     rect, spec().extent};
    const std::vector<Rect> tiles = tiles_of(rect, kTile);
    executor.for_each(std::ssize(tiles), [&](std::int64_t i, int worker) {
      compute_tile(chain_, specs_, arithmetic_, in, out.crop(tiles[static_cast<std::size_t>(i)]),
                   workers[static_cast<std::size_t>(worker)]);
    });
    end_ += rect.rows;
  }

  Writer& sink_;
  Chain chain_;
  std::vector<ImageSpec> specs_;
  Arithmetic arithmetic_;
  std::int64_t held_rows_ = 0;
  Buffer held_;
  std::int64_t first_ = 0, end_ = 0;  // rows that are held
};

class PyramidWriter final : public Writer, private ResumableWriter {
 public:
  PyramidWriter(std::unique_ptr<Writer> image, MissingPixels missing)
      : image_(std::move(image)), layout_(image_->layout()) {
    missing.stored = layout_.stored;
    if (missing.can_become())
      throw InvalidArgument(
          fmt::format("smaller levels of {} elements are rounded when they are stored, so that what is there "
                      "could become missing; make none (OutputRequest::pyramid), or set "
                      "MissingOptions::none",
                      name_of(*missing.stored)));
    const ImageSpec* larger = &image_->spec();
    levels_.reserve(image_->levels().size());
    for (Writer* const sink : image_->levels())
      larger = &levels_.emplace_back(*sink, *larger, missing).spec();
    const Extent unit = layout_.unit();
    turn_ = round_up(2 * levels_.front().held_rows(), unit.rows);
    layout_.access = Access::sequential;
    layout_.cuts_blocks = false;
    layout_.coded.reset();  // levels are made of pixels
    layout_.block = {even(unit.rows), unit.cols};
  }

  const ImageSpec& spec() const noexcept override { return image_->spec(); }
  const SinkLayout& layout() const noexcept override { return layout_; }

  void write(const Rect& rect, const ConstPixelView& in, Executor& executor) override {
    while (std::ssize(workers_) < executor.concurrency()) workers_.emplace_back(Buffer(scratch_bytes()));
    for (std::int64_t row = rect.row; row < rect.row_end();) {
      const std::int64_t end = std::min((row / turn_ + 1) * turn_, rect.row_end());
      const ConstPixelView rows = in.crop({row - rect.row, 0, end - row, rect.cols});
      image_->write({row, 0, end - row, rect.cols}, rows, executor);
      fill(0, row, rows, executor);
      row = end;
    }
  }

  ResumableWriter* resumable() noexcept override { return image_->resumable() != nullptr ? this : nullptr; }

  void prepare_finish() override { image_->prepare_finish(); }
  void finish() override { image_->finish(); }

  std::int64_t buffer_bytes(int concurrency) const override {
    std::int64_t bytes = image_->buffer_bytes(concurrency) + concurrency * scratch_bytes();
    for (const Level& level : levels_) bytes += level.bytes(concurrency);
    if (image_->resumable() != nullptr) bytes += held_bytes();  // a copy for each record
    return bytes;
  }

 private:
  WriterState take_state() override {
    WriterState state = image_->resumable()->take_state();
    for (Level& level : levels_) {
      WriterState of_level = level.take_state(state.held);
      state.levels.push_back(std::move(of_level));
    }
    return state;
  }
  void restore(std::int64_t pixels, const WriterState& state, const std::filesystem::path& file) override {
    image_->resumable()->restore(pixels, state, file);
    std::span<const std::byte> held = state.held;
    for (std::size_t i = 0; i < levels_.size(); ++i) levels_[i].restore(state.levels.at(i), held, file);
  }
  std::int64_t held_bytes() const override {
    std::int64_t bytes = 0;
    for (const Level& level : levels_) bytes += level.held_bytes();
    return bytes;
  }

  void fill(std::size_t level, std::int64_t row, const ConstPixelView& rows, Executor& executor) {
    if (level == levels_.size()) return;
    levels_[level].take(row, rows, executor, workers_, [&](std::int64_t first, const ConstPixelView& made) {
      fill(level + 1, first, made, executor);
    });
  }

  std::int64_t scratch_bytes() const {
    std::int64_t most = 0;
    for (const Level& level : levels_) most = std::max(most, level.scratch_bytes());
    return most;
  }

  std::unique_ptr<Writer> image_;
  SinkLayout layout_;
  std::vector<Level> levels_;
  /// Rows of the image after which the first level is written, whatever rows come at once: so that compressed
  /// blocks have the same order.
  std::int64_t turn_ = 1;
  std::vector<Worker> workers_;
};

}  // namespace

std::unique_ptr<Writer> fill_levels(std::unique_ptr<Writer> image, const MissingPixels& missing) {
  if (image->levels().empty()) return image;
  return std::make_unique<PyramidWriter>(std::move(image), missing);
}

}  // namespace sepconv
