#include "pipeline/plan/pyramid_level.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "pipeline/chain/chain_tile.hpp"

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
/// Numbers of a piece of kept rows.
constexpr std::size_t kPiece = 3;

/// Rows of a level that are gathered for its sink.
std::int64_t rows_to_hold(const ImageSpec& level, const SinkLayout& layout) {
  const std::int64_t least = round_up(kGatheredRows, even_multiple(layout.unit().rows));
  const std::int64_t blocks_of_row = ceil_div(level.extent.cols, layout.block.cols);
  const std::int64_t wanted = layout.block.rows * ceil_div(kBlocksAtOnce, blocks_of_row);
  const std::int64_t rows = std::min(wanted, kHeldBytes / level.row_bytes()) / least * least;
  return std::min(std::max(least, rows), level.extent.rows);
}

/// The first pixel of each cell of 2 x 2.
void take_nearest(const ConstRegion& in, const Region& out) {
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
  if (layout.appends) return 0;
  return even_multiple(layout.shard.empty() ? layout.unit().rows : layout.shard.rows);
}

}  // namespace

PyramidLevel::PyramidLevel(Writer& sink, int index, const ImageSpec& larger, const MissingPixels& missing,
                           std::shared_ptr<Checkpoint> partial, bool nearest)
    : sink_(sink),
      nearest_(nearest),
      rows_{index, sink.spec().extent.rows, sink.spec().row_bytes(), unit_of_parts(sink.layout())},
      partial_(std::move(partial)),
      chain_(apply_nodata_policy(missing, Chain::parse({"reduce:factor=2"}), larger)),
      specs_(chain_.specs(larger)),
      arithmetic_(chain_.arithmetic(larger)),
      held_rows_(rows_to_hold(sink.spec(), sink.layout())) {}

std::int64_t PyramidLevel::scratch_bytes() const {
  return tile_scratch_bytes(chain_, specs_, kTile, arithmetic_);
}

/// The row at which what is held is passed on: where what the sink takes is gathered, and where it changes
/// who writes it.
std::int64_t PyramidLevel::stop() const noexcept {
  const std::int64_t rows = spec().extent.rows;
  std::int64_t at = std::min((first_ / held_rows_ + 1) * held_rows_, rows);
  for (const std::int64_t edge : {part_.own_begin, part_.own_end, makes_part() ? part_.end : rows})
    if (edge > first_) at = std::min(at, edge);
  return at;
}

void PyramidLevel::hold() {
  if (held_.size() == 0) held_ = Buffer(buffered_bytes());
}

ConstPixelView PyramidLevel::held() const {
  return dense_view(held_.data(), spec(), {end_ - first_, spec().extent.cols});
}

void PyramidLevel::add(const ConstRegion& in, Executor& executor, std::vector<Worker>& workers) {
  hold();
  const Rect rect{end_, 0, ceil_div(in.rect.rows, 2), spec().extent.cols};
  const Region out{dense_view(held_.data() + (end_ - first_) * spec().row_bytes(), spec(), rect.extent()),
                   rect, spec().extent};
  const std::vector<Rect> tiles = tiles_of(rect, kTile);
  executor.for_each(std::ssize(tiles), [&](std::int64_t i, int worker) {
    const Region tile = out.crop(tiles[static_cast<std::size_t>(i)]);
    if (nearest_) return take_nearest(in, tile);
    compute_tile(chain_, specs_, arithmetic_, in, tile, workers[static_cast<std::size_t>(worker)]);
  });
  end_ += rect.rows;
}

/// Writes what is held, keeps it, or leaves it to the part that has written it. It is there until the next.
ConstPixelView PyramidLevel::pass_on(Executor& executor) {
  const ConstPixelView rows = held();
  const bool in_parts = part_.end > 0;
  if (in_parts && !makes_part() && is_own(first_)) {
    sink_.resumable()->restore(rows.extent.area(), {}, {}, executor);
  } else if (makes_part() && !is_own(first_)) {
    keep(first_);
  } else {
    sink_.write({first_, 0, rows.extent.rows, rows.extent.cols}, rows, executor);
  }
  first_ = end_;
  return rows;
}

/// Rows that are held from this one on.
void PyramidLevel::keep(std::int64_t from) {
  if (from >= end_) return;
  const auto begin = held_.bytes().subspan(static_cast<std::size_t>((from - first_) * spec().row_bytes()));
  const auto bytes = begin.first(static_cast<std::size_t>((end_ - from) * spec().row_bytes()));
  kept_.insert(kept_.end(), {from, end_, partial_->keep(bytes)});
  kept_end_ = end_;
}

/// Puts these rows where they are held. Each is in one piece: none is kept twice.
void PyramidLevel::fetch(std::span<const std::int64_t> kept, const std::filesystem::path& rows,
                         std::int64_t from, std::int64_t to) {
  hold();
  std::int64_t fetched = 0;
  for (; kept.size() >= kPiece; kept = kept.subspan(kPiece)) {
    const std::int64_t begin = std::max(from, kept[0]), end = std::min(to, kept[1]);
    if (begin >= end) continue;
    const auto bytes = held_.bytes().subspan(static_cast<std::size_t>((begin - first_) * spec().row_bytes()));
    InputFile(rows).read_at(kept[2] + (begin - kept[0]) * spec().row_bytes(),
                            bytes.first(static_cast<std::size_t>((end - begin) * spec().row_bytes())));
    fetched += end - begin;
  }
  if (fetched != to - from)
    throw IoError(rows.native() + ": it lacks rows that are said to be in it; discard the partial result");
}

WriterState PyramidLevel::take_state() {
  keep(std::max(first_, kept_end_));
  WriterState state = take_kept();
  state.levels.push_back(sink_.resumable()->take_state());
  state.levels.push_back({.places = {first_, end_}});
  return state;
}

void PyramidLevel::restore(const WriterState& state, const std::filesystem::path& rows, Executor& executor) {
  const std::vector<std::int64_t>& reached = state.levels.at(1).places;  // of each record
  const std::int64_t first = reached.at(reached.size() - 2);
  end_ = reached.back();
  if (first < 0 || end_ < first || end_ > spec().extent.rows || end_ - first > held_rows_)
    throw IoError(rows.native() + ": the partial result names rows that are not there; discard it");
  sink_.resumable()->restore(first * spec().extent.cols, state.levels.at(0), {}, executor);
  first_ = first;
  kept_end_ = end_;
  if (first_ < end_) fetch(state.places, rows, first_, end_);
}

void PyramidLevel::begin_part(const PartRows& part) {
  part_ = part;
  first_ = end_ = part.begin;
}

/// That which has the next row.
const PyramidLevel::Part& PyramidLevel::part_at_end() {
  while (!parts_.empty() && parts_.front().rows.end <= end_) parts_.pop_front();
  if (parts_.empty() || parts_.front().rows.begin > end_)
    throw IoError("the partial result lacks rows of a smaller level; discard it");
  part_ = parts_.front().rows;
  return parts_.front();
}

}  // namespace sepconv
