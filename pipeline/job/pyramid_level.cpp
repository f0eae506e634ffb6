#include "pipeline/job/pyramid_level.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "pipeline/chain/graph_tile.hpp"

namespace sepconv {
namespace {

/// Tile of a level that a thread computes at a time.
constexpr Extent kTile{64, 1024};
/// Rows buffered for a sink that accepts any number; even, so that the next level gets whole rows.
constexpr std::int64_t kGatheredRows = 64;
/// Blocks passed to a sink at a time, one for each of many threads, and the limit of bytes buffered for them.
constexpr std::int64_t kBlocksPerWrite = 16;
constexpr std::int64_t kMaxBufferedBytes = std::int64_t{4} << 20;
/// Numbers per entry of `saved_`: first row, end row, file offset.
constexpr std::size_t kSavedFields = 3;

/// Number of rows of a level to buffer for its sink.
std::int64_t buffered_row_count(const ImageSpec& level, const SinkLayout& layout) {
  const std::int64_t min_rows = round_up(kGatheredRows, even_multiple(layout.unit().rows));
  const std::int64_t blocks_of_row = ceil_div(level.extent.cols, layout.block.cols);
  const std::int64_t wanted = layout.block.rows * ceil_div(kBlocksPerWrite, blocks_of_row);
  const std::int64_t rows = std::min(wanted, kMaxBufferedBytes / level.row_bytes()) / min_rows * min_rows;
  return std::min(std::max(min_rows, rows), level.extent.rows);
}

/// Copies the first pixel of each 2 x 2 cell.
void sample_nearest(const ConstRegion& in, const Region& out) {
  const std::int64_t bytes = out.pixels.pixel_bytes();
  for (std::int64_t row = 0; row < out.rect.rows; ++row) {
    const std::byte* const from =
        in.pixels.row_data(2 * (out.rect.row + row) - in.rect.row) + (2 * out.rect.col - in.rect.col) * bytes;
    std::byte* const to = out.pixels.row_data(row);
    for (std::int64_t col = 0; col < out.rect.cols; ++col)
      std::memcpy(to + col * bytes, from + 2 * col * bytes, static_cast<std::size_t>(bytes));
  }
}

std::int64_t unit_of_parts(const SinkLayout& layout) {
  if (layout.is_append_only) return 0;
  return even_multiple(layout.shard.empty() ? layout.unit().rows : layout.shard.rows);
}

}  // namespace

PyramidLevel::PyramidLevel(Writer& sink, int index, const ImageSpec& larger, const MissingPixels& missing,
                           std::shared_ptr<Checkpoint> checkpoint, bool nearest)
    : sink_(sink),
      nearest_(nearest),
      rows_{index, sink.spec().extent.rows, sink.spec().row_bytes(), unit_of_parts(sink.layout())},
      checkpoint_(std::move(checkpoint)),
      chain_(apply_nodata_policy(missing, Chain::parse({"reduce:factor=2"}), larger)),
      graph_(chain_, larger),
      arithmetic_(chain_.arithmetic(larger)),
      max_buffered_rows_(buffered_row_count(sink.spec(), sink.layout())) {}

std::int64_t PyramidLevel::scratch_bytes() const { return tile_scratch_bytes(graph_, kTile, arithmetic_); }

/// The row at which the buffer is flushed: at multiples of its size, and at the borders between this part's
/// rows and its neighbours'.
std::int64_t PyramidLevel::flush_row() const noexcept {
  const std::int64_t rows = spec().extent.rows;
  std::int64_t at = std::min((first_ / max_buffered_rows_ + 1) * max_buffered_rows_, rows);
  for (const std::int64_t edge : {part_.written_begin, part_.written_end, is_part_run() ? part_.end : rows})
    if (edge > first_) at = std::min(at, edge);
  return at;
}

void PyramidLevel::allocate_buffer() {
  if (buffer_.size() == 0) buffer_ = Buffer(buffered_bytes());
}

ConstPixelView PyramidLevel::buffered_rows_view() const {
  return dense_view(buffer_.data(), spec(), {end_ - first_, spec().extent.cols});
}

void PyramidLevel::add(const ConstRegion& in, Executor& executor, std::vector<Worker>& workers) {
  allocate_buffer();
  const Rect rect{end_, 0, ceil_div(in.rect.rows, 2), spec().extent.cols};
  const Region out{dense_view(buffer_.data() + (end_ - first_) * spec().row_bytes(), spec(), rect.extent()),
                   rect, spec().extent};
  const std::vector<Rect> tiles = tiles_of(rect, kTile);
  executor.for_each(std::ssize(tiles), [&](std::int64_t i, int worker) {
    const Region tile = out.crop(tiles[static_cast<std::size_t>(i)]);
    if (nearest_) return sample_nearest(in, tile);
    compute_tile(graph_, arithmetic_, in, tile, workers[static_cast<std::size_t>(worker)]);
  });
  end_ += rect.rows;
}

/// Writes the buffered rows, saves them for the finishing process, or skips rows that a part has written.
/// Returns them; the view is valid until the next call.
ConstPixelView PyramidLevel::flush(Executor& executor) {
  const ConstPixelView rows = buffered_rows_view();
  const bool in_parts = part_.end > 0;
  if (in_parts && !is_part_run() && writes_row(first_)) {
    sink_.resumable()->restore(rows.extent.area(), {}, {}, executor);
  } else if (is_part_run() && !writes_row(first_)) {
    save_rows(first_);
  } else {
    sink_.write({first_, 0, rows.extent.rows, rows.extent.cols}, rows, executor);
  }
  first_ = end_;
  return rows;
}

/// Saves the buffered rows from `from` on in the checkpoint.
void PyramidLevel::save_rows(std::int64_t from) {
  if (from >= end_) return;
  const auto begin = buffer_.bytes().subspan(static_cast<std::size_t>((from - first_) * spec().row_bytes()));
  const auto bytes = begin.first(static_cast<std::size_t>((end_ - from) * spec().row_bytes()));
  saved_.insert(saved_.end(), {from, end_, checkpoint_->keep(bytes)});
  saved_end_ = end_;
}

/// Reads saved rows into the buffer. No row is saved twice.
void PyramidLevel::fetch(std::span<const std::int64_t> saved, const std::filesystem::path& rows,
                         std::int64_t from, std::int64_t to) {
  allocate_buffer();
  std::int64_t read_rows = 0;
  for (; saved.size() >= kSavedFields; saved = saved.subspan(kSavedFields)) {
    const std::int64_t begin = std::max(from, saved[0]), end = std::min(to, saved[1]);
    if (begin >= end) continue;
    const auto bytes =
        buffer_.bytes().subspan(static_cast<std::size_t>((begin - first_) * spec().row_bytes()));
    InputFile(rows).read_at(saved[2] + (begin - saved[0]) * spec().row_bytes(),
                            bytes.first(static_cast<std::size_t>((end - begin) * spec().row_bytes())));
    read_rows += end - begin;
  }
  if (read_rows != to - from)
    throw IoError(rows.native() + ": it lacks rows that are said to be in it; discard the partial result");
}

WriterState PyramidLevel::take_state() {
  save_rows(std::max(first_, saved_end_));
  WriterState state = take_saved();
  state.levels.push_back(sink_.resumable()->take_state());
  state.levels.push_back({.block_positions = {first_, end_}});
  return state;
}

void PyramidLevel::restore(const WriterState& state, const std::filesystem::path& rows, Executor& executor) {
  const std::vector<std::int64_t>& reached =
      state.levels.at(1).block_positions;  // first and end row of each record
  const std::int64_t first = reached.at(reached.size() - 2);
  end_ = reached.back();
  if (first < 0 || end_ < first || end_ > spec().extent.rows || end_ - first > max_buffered_rows_)
    throw IoError(rows.native() + ": the partial result names rows that are not there; discard it");
  sink_.resumable()->restore(first * spec().extent.cols, state.levels.at(0), {}, executor);
  first_ = first;
  saved_end_ = end_;
  if (first_ < end_) fetch(state.block_positions, rows, first_, end_);
}

void PyramidLevel::begin_part(const PartRows& part) {
  part_ = part;
  first_ = end_ = part.begin;
}

/// The part that contains the next row.
const PyramidLevel::Part& PyramidLevel::next_part() {
  while (!parts_.empty() && parts_.front().rows.end <= end_) parts_.pop_front();
  if (parts_.empty() || parts_.front().rows.begin > end_)
    throw IoError("the partial result lacks rows of a smaller level; discard it");
  part_ = parts_.front().rows;
  return parts_.front();
}

}  // namespace sepconv
