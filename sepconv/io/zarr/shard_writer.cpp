#include "sepconv/io/zarr/shard_writer.hpp"

#include <algorithm>
#include <stdexcept>

#include "sepconv/io/zarr/zarr_codecs.hpp"
#include "sepconv/io/zarr/zarr_writer.hpp"

namespace sepconv {
namespace {

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

void put_little(std::uint64_t value, int bytes, std::vector<std::byte>& to) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> 8 * i));
}

}  // namespace

ShardWriter::Shard ShardWriter::begin(const ZarrShape& chunk) const {
  const ZarrArray& array = target_.array;
  std::size_t parts = 1;
  std::int64_t missing = 1;
  for (std::size_t i = 0; i < chunk.size(); ++i) {
    const std::int64_t inside = std::min(array.chunk[i], array.shape[i] - chunk[i] * array.chunk[i]);
    parts *= static_cast<std::size_t>(array.chunk[i] / array.block()[i]);
    missing *= ceil_div(inside, array.block()[i]);
  }
  return {std::vector<std::uint64_t>(2 * parts, kNowhere), 0, missing};
}

ShardWriter::Place ShardWriter::place(const ZarrShape& block, std::int64_t bytes) {
  const ZarrArray& array = target_.array;
  ZarrShape chunk(block.size());
  std::size_t part = 0;
  for (std::size_t i = 0; i < block.size(); ++i) {
    const std::int64_t blocks = array.chunk[i] / array.block()[i];
    chunk[i] = block[i] / blocks;
    part = part * static_cast<std::size_t>(blocks) + static_cast<std::size_t>(block[i] % blocks);
  }
  const auto [found, is_new] = shards_.try_emplace(chunk);
  Shard& shard = found->second;
  if (is_new) shard = begin(chunk);
  --shard.missing;
  const std::int64_t offset = shard.end;
  if (bytes > 0) {
    shard.places[2 * part] = static_cast<std::uint64_t>(offset);
    shard.places[2 * part + 1] = static_cast<std::uint64_t>(bytes);
    shard.end += bytes;
  }
  return {joined_key(target_.key, array.key_of(chunk)), offset};
}

void ShardWriter::complete() {
  for (auto next = shards_.begin(); next != shards_.end();) {
    const auto& [chunk, shard] = *next;
    if (shard.missing > 0) {
      ++next;
      continue;
    }
    if (shard.end > 0) {
      std::vector<std::byte> index;
      for (const std::uint64_t number : shard.places) put_little(number, 8, index);
      put_little(crc32c(index), 4, index);
      const std::string key = joined_key(target_.key, target_.array.key_of(chunk));
      target_.folder->write_part(key, shard.end, index);
      target_.folder->complete_part(key);
    }
    next = shards_.erase(next);
  }
}

void ShardWriter::check_complete() const {
  if (!shards_.empty()) throw std::logic_error("a shard was not given all of its chunks");
}

std::int64_t ShardWriter::memory_bytes(const ZarrTarget& target) {
  const ZarrArray& array = target.array;
  constexpr std::int64_t kEntry = 16, kOfShard = 512;
  std::int64_t parts = 1;
  for (std::size_t i = 0; i < array.chunk.size(); ++i) parts *= array.chunk[i] / array.block()[i];
  std::int64_t shards = 1;  // of one image
  for (const int axis : {target.axes.row, target.axes.col, target.axes.channel}) {
    const auto i = static_cast<std::size_t>(axis);
    if (axis >= 0) shards *= ceil_div(array.shape[i], array.chunk[i]);
  }
  return shards * (parts * kEntry + kOfShard) + parts * kEntry;
}

}  // namespace sepconv
