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

constexpr std::uint64_t kMissingEntry = ~std::uint64_t{0};
constexpr int kNumberBytes = 8, kSumBytes = 4;

template <class T, std::size_t N>
std::span<std::byte> little_endian(std::span<T, N> numbers) {
  const auto bytes = std::as_writable_bytes(numbers);
  if constexpr (std::endian::native == std::endian::big)
    swap_elements({SampleType::Kind::natural, 8 * sizeof(T)}, bytes);
  return bytes;
}

}  // namespace

ShardWriter::Shard ShardWriter::start_shard(const ZarrShape& chunk) const {
  const ZarrArray& array = target_.array;
  Shard shard;
  shard.key = target_.chunk_key(chunk);
  shard.blocks = 1;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const std::int64_t inside = std::min(array.chunk[i], array.shape[i] - chunk[i] * array.chunk[i]);
    shard.blocks *= ceil_div(inside, array.block()[i]);
  }
  shard.index.assign(static_cast<std::size_t>(2 * shard_parts(array.chunk, array.block())), kMissingEntry);
  if (array.shards.front().index_at_start)
    shard.first = shard.end = std::ssize(shard.index) * kNumberBytes + kSumBytes;
  return shard;
}

ShardWriter::Ticket ShardWriter::ticket_for(const ZarrShape& block) {
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
  if (is_new) shard = start_shard(chunk);
  return {0, &shard, part, shard.issued++};
}

void ShardWriter::add_index_entry(const Ticket& ticket, std::int64_t bytes) {
  Shard& shard = *ticket.shard;
  if (bytes == 0) return;
  shard.index[2 * ticket.part] = static_cast<std::uint64_t>(shard.end);
  shard.index[2 * ticket.part + 1] = static_cast<std::uint64_t>(bytes);
  shard.end += bytes;
}

std::vector<ShardWriter::Ticket> ShardWriter::tickets(
    std::int64_t first, std::int64_t end, const std::function<ZarrShape(std::int64_t)>& position_of) {
  std::erase_if(shards_, [](const auto& entry) { return entry.second.written == entry.second.blocks; });
  std::vector<Ticket> tickets;
  tickets.reserve(static_cast<std::size_t>(end - first));
  for (std::int64_t block = first; block < end; ++block) {
    tickets.push_back(ticket_for(position_of(block)));
    tickets.back().block = block;
  }
  std::ranges::sort(tickets, {}, [](const Ticket& ticket) {
    return std::pair(ticket.sequence - ticket.shard->written, ticket.block);
  });
  return tickets;
}

bool ShardWriter::append(const Ticket& ticket, const ZarrShape& position, std::span<const std::byte> bytes) {
  Shard& shard = *ticket.shard;
  {
    std::unique_lock lock(mutex_);
    progress_.wait(lock, [&] { return stopped_ || shard.written == ticket.sequence; });
    if (stopped_) return false;
  }
  if (!bytes.empty()) {
    target_.folder->write_part(shard.key, shard.end == shard.first, shard.end, bytes);
    add_index_entry(ticket, std::ssize(bytes));
  }
  if (ticket.sequence + 1 == shard.blocks) complete(shard);
  const std::lock_guard lock(mutex_);
  if (target_.folder->checkpoint()) {
    appended_.insert(appended_.end(), position.begin(), position.end());
    appended_.push_back(std::ssize(bytes));
  }
  ++shard.written;
  progress_.notify_all();
  return true;
}

void ShardWriter::complete(Shard& shard) const {
  if (shard.end == shard.first) return;
  const auto index = little_endian(std::span(shard.index));
  std::array<std::uint32_t, 1> sum{crc32c(index)};
  const std::int64_t index_offset = shard.first > 0 ? 0 : shard.end;
  target_.folder->write_part(shard.key, false, index_offset, index);
  const std::int64_t sum_offset = index_offset + std::ssize(index);
  target_.folder->write_part(shard.key, false, sum_offset, little_endian(std::span(sum)));
  target_.folder->complete_part(shard.key, std::max(shard.end, sum_offset + kSumBytes));
  shard.index = {};
}

void ShardWriter::restore(std::span<const std::int64_t> appended) {
  const std::size_t axes = target_.array.shape.size();
  for (; appended.size() > axes; appended = appended.subspan(axes + 1)) {
    const auto position = appended.first(axes);
    const Ticket ticket = ticket_for(ZarrShape(position.begin(), position.end()));
    add_index_entry(ticket, appended[axes]);
    ++ticket.shard->written;
  }
  std::erase_if(shards_, [](const auto& entry) { return entry.second.written == entry.second.blocks; });
  // Another process may have completed the shard after the restored state.
  for (const auto& [chunk, shard] : shards_) {
    if (shard.end > shard.first) target_.folder->reopen_part(shard.key, shard.end);
  }
}

void ShardWriter::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
  progress_.notify_all();
}

void ShardWriter::check_complete() const {
  if (std::ranges::any_of(shards_,
                          [](const auto& entry) { return entry.second.written < entry.second.blocks; }))
    throw std::logic_error("a shard was not given all of its chunks");
}

std::int64_t ShardWriter::memory_bytes(const ZarrTarget& target) {
  const ZarrArray& array = target.array;
  constexpr std::int64_t kEntryBytes = 16, kShardBytes = 512, kTicketsBytes = kMaxTickets * sizeof(Ticket);
  const std::int64_t parts = shard_parts(array.chunk, array.block());
  std::int64_t shards = 1;  // open shards: of one image, and of images along axes after the first shared axis
  const auto count = [&](int axis) {
    const auto i = static_cast<std::size_t>(axis);
    return axis < 0 ? 1 : ceil_div(array.shape[i], array.chunk[i]);
  };
  for (const int axis : {target.axes.row, target.axes.col, target.axes.channel}) shards *= count(axis);
  bool is_shared = false;
  for (const int axis : target.axes.others) {
    if (is_shared && axis != target.axes.channel) shards *= count(axis);
    is_shared |= array.chunk[static_cast<std::size_t>(axis)] > 1;
  }
  const std::int64_t appended =
      target.folder->checkpoint() ? shards * parts * 2 * 8 * (std::ssize(array.shape) + 1) : 0;
  return shards * (parts * kEntryBytes + kShardBytes) + kTicketsBytes + appended;
}

}  // namespace sepconv
