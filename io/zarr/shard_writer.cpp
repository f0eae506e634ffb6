#include "io/zarr/shard_writer.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <stdexcept>

#include "io/crc32c.hpp"
#include "io/sample_conversion.hpp"
#include "io/zarr/zarr_codecs.hpp"
#include "io/zarr/zarr_writer.hpp"

namespace sepconv {
namespace {

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};
constexpr int kNumberBytes = 8, kSumBytes = 4;

template <class T, std::size_t N>
std::span<std::byte> little_endian(std::span<T, N> numbers) {
  const auto bytes = std::as_writable_bytes(numbers);
  if constexpr (std::endian::native == std::endian::big)
    swap_elements({SampleType::Kind::natural, 8 * sizeof(T)}, bytes);
  return bytes;
}

}  // namespace

ShardWriter::Shard ShardWriter::begin(const ZarrShape& chunk) const {
  const ZarrArray& array = target_.array;
  Shard shard;
  shard.key = target_.key_of(chunk);
  shard.blocks = 1;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const std::int64_t inside = std::min(array.chunk[i], array.shape[i] - chunk[i] * array.chunk[i]);
    shard.blocks *= ceil_div(inside, array.block()[i]);
  }
  shard.places.assign(static_cast<std::size_t>(2 * shard_parts(array.chunk, array.block())), kNowhere);
  if (array.shards.front().index_at_start)
    shard.first = shard.end = std::ssize(shard.places) * kNumberBytes + kSumBytes;
  return shard;
}

ShardWriter::Turn ShardWriter::turn_of(const ZarrShape& block) {
  const ZarrArray& array = target_.array;
  ZarrShape chunk(block.size());
  std::size_t part = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::int64_t side = array.chunk[i] / array.block()[i];
    chunk[i] = block[i] / side;
    part = part * static_cast<std::size_t>(side) + static_cast<std::size_t>(block[i] % side);
  }
  const auto [found, is_new] = shards_.try_emplace(chunk);
  Shard& shard = found->second;
  if (is_new) shard = begin(chunk);
  return {0, &shard, part, shard.named++};
}

void ShardWriter::put(const Turn& turn, std::int64_t bytes) {
  Shard& shard = *turn.shard;
  if (bytes == 0) return;
  shard.places[2 * turn.part] = static_cast<std::uint64_t>(shard.end);
  shard.places[2 * turn.part + 1] = static_cast<std::uint64_t>(bytes);
  shard.end += bytes;
}

std::vector<ShardWriter::Turn> ShardWriter::turns(std::int64_t first, std::int64_t end,
                                                  const std::function<ZarrShape(std::int64_t)>& position_of) {
  std::erase_if(shards_, [](const auto& each) { return each.second.written == each.second.blocks; });
  std::vector<Turn> turns;
  turns.reserve(static_cast<std::size_t>(end - first));
  for (std::int64_t block = first; block < end; ++block) {
    turns.push_back(turn_of(position_of(block)));
    turns.back().block = block;
  }
  std::ranges::sort(turns, {},
                    [](const Turn& turn) { return std::pair(turn.turn - turn.shard->written, turn.block); });
  return turns;
}

bool ShardWriter::append(const Turn& turn, const ZarrShape& position, std::span<const std::byte> bytes) {
  Shard& shard = *turn.shard;
  {
    std::unique_lock lock(mutex_);
    passed_on_.wait(lock, [&] { return stopped_ || shard.written == turn.turn; });
    if (stopped_) return false;
  }
  if (!bytes.empty()) {
    target_.folder->write_part(shard.key, shard.end == shard.first, shard.end, bytes);
    put(turn, std::ssize(bytes));
  }
  if (turn.turn + 1 == shard.blocks) complete(shard);
  const std::lock_guard lock(mutex_);
  if (target_.folder->partial()) {
    placed_.insert(placed_.end(), position.begin(), position.end());
    placed_.push_back(std::ssize(bytes));
  }
  ++shard.written;
  passed_on_.notify_all();
  return true;
}

void ShardWriter::complete(Shard& shard) const {
  if (shard.end == shard.first) return;
  const auto index = little_endian(std::span(shard.places));
  std::array<std::uint32_t, 1> sum{crc32c(index)};
  const std::int64_t at = shard.first > 0 ? 0 : shard.end;
  target_.folder->write_part(shard.key, false, at, index);
  const std::int64_t behind = at + std::ssize(index);
  target_.folder->write_part(shard.key, false, behind, little_endian(std::span(sum)));
  target_.folder->complete_part(shard.key, std::max(shard.end, behind + kSumBytes));
  shard.places = {};
}

void ShardWriter::restore(std::span<const std::int64_t> placed) {
  const std::size_t axes = target_.array.shape.size();
  for (; placed.size() > axes; placed = placed.subspan(axes + 1)) {
    const auto position = placed.first(axes);
    const Turn turn = turn_of(ZarrShape(position.begin(), position.end()));
    put(turn, placed[axes]);
    ++turn.shard->written;
  }
  std::erase_if(shards_, [](const auto& each) { return each.second.written == each.second.blocks; });
  // Another process may have completed one after what is known of it.
  for (const auto& [chunk, shard] : shards_) {
    if (shard.end > shard.first) target_.folder->reopen_part(shard.key, shard.end);
  }
}

void ShardWriter::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  passed_on_.notify_all();
}

void ShardWriter::check_complete() const {
  if (std::ranges::any_of(shards_, [](const auto& each) { return each.second.written < each.second.blocks; }))
    throw std::logic_error("a shard was not given all of its chunks");
}

std::int64_t ShardWriter::memory_bytes(const ZarrTarget& target) {
  const ZarrArray& array = target.array;
  constexpr std::int64_t kEntry = 16, kOfShard = 512, kOfTurns = kMaxTurns * sizeof(Turn);
  const std::int64_t parts = shard_parts(array.chunk, array.block());
  std::int64_t shards =
      1;  // of one image, and of those that the first axis along which they are several leaves open
  const auto count = [&](int axis) {
    const auto i = static_cast<std::size_t>(axis);
    return axis < 0 ? 1 : ceil_div(array.shape[i], array.chunk[i]);
  };
  for (const int axis : {target.axes.row, target.axes.col, target.axes.channel}) shards *= count(axis);
  bool are_several = false;
  for (const int axis : target.axes.others) {
    if (are_several && axis != target.axes.channel) shards *= count(axis);
    are_several |= array.chunk[static_cast<std::size_t>(axis)] > 1;
  }
  const std::int64_t placed =
      target.folder->partial() ? shards * parts * 2 * 8 * (std::ssize(array.shape) + 1) : 0;
  return shards * (parts * kEntry + kOfShard) + kOfTurns + placed;
}

}  // namespace sepconv
