#include "io/zarr/zarr_source.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "io/byte_order.hpp"
#include "io/crc32c.hpp"
#include "io/file_errors.hpp"

namespace sepconv {
namespace {

constexpr std::uint64_t kMissingChunk = ~std::uint64_t{0};
constexpr std::int64_t kIndexEntryBytes = 16;
constexpr std::int64_t kIndexChecksumBytes = 4;
/// The cache size for shard indices, and the minimum that each counts, which limits the number of open files.
constexpr std::int64_t kIndexBytes = 32 << 20;
constexpr std::int64_t kMinIndexBytes = kIndexBytes / 64;

/// The bytes of the indices of all nested shards that contain a block.
std::int64_t index_bytes(const ZarrArray& array) {
  std::int64_t bytes = 0;
  const ZarrShape* outer = &array.chunk;
  for (const ZarrShards& level : array.shards) {
    bytes += std::max(kMinIndexBytes,
                      kIndexEntryBytes * std::min(kMaxShardParts, shard_parts(*outer, level.inner)));
    outer = &level.inner;
  }
  return bytes;
}

}  // namespace

ZarrSource::ZarrSource(std::shared_ptr<const ZarrStore> store, std::string key, ZarrArray array,
                       bool refuses_holes)
    : store_(std::move(store)),
      key_(std::move(key)),
      array_(std::move(array)),
      refuses_holes_(refuses_holes),
      shards_(std::max(kIndexBytes, index_bytes(array_))),
      blocks_(0) {
  const ZarrShape* outer = &array_.chunk;
  for (const ZarrShards& level : array_.shards) {
    if (shard_parts(*outer, level.inner) > kMaxShardParts)
      throw_read_error(name(), fmt::format("its shards have more than {} chunks, whose index is too large "
                                           "to be held; make the shards smaller",
                                           kMaxShardParts));
    outer = &level.inner;
  }
}

std::int64_t ZarrSource::memory_bytes(int threads) const {
  const std::int64_t indices =
      array_.shards.empty() ? 0 : std::max(kIndexBytes, index_bytes(array_)) + threads * index_bytes(array_);
  return store_->memory_bytes() + indices +
         threads * (ZarrCoder::decoder_bytes(array_) + array_.block_bytes()) +
         (store_->memory_bytes() > 0 ? threads * ZarrCoder::max_encoded_bytes(array_)
                                     : 0);  // buffers to inflate them
}

Buffer ZarrSource::acquire_buffer() {
  const std::lock_guard lock(idle_lock_);
  if (idle_.empty()) return Buffer(array_.block_bytes());
  Buffer buffer = std::move(idle_.back());
  idle_.pop_back();
  return buffer;
}

std::shared_ptr<const Buffer> ZarrSource::block(const ZarrShape& position, bool will_reuse) {
  const std::string key = chunk_key(position);
  if (auto cached = blocks_.find(key)) return cached;
  const Location location = locate(position, key);
  if (!location.object) return nullptr;
  const auto release = [this](Buffer* buffer) {
    const std::lock_guard lock(idle_lock_);
    idle_.push_back(std::move(*buffer));
    delete buffer;
  };
  const std::shared_ptr<Buffer> result(new Buffer(acquire_buffer()), release);
  const auto coder = coders_.lease([&] { return std::make_unique<ZarrCoder>(array_); });
  location.object->read_at(location.offset, coder->encoded_buffer(location.bytes, result->bytes()));
  if (const std::string error = coder->decode(result->bytes()); !error.empty())
    throw_damaged(position, error);
  if (will_reuse) blocks_.insert(key, result, cached_block_bytes());
  return result;
}

std::int64_t ZarrSource::stored_bytes(const ZarrShape& position) {
  return locate(position, chunk_key(position)).bytes;
}

void ZarrSource::read_stored(const ZarrShape& position, std::span<std::byte> to) {
  const Location location = locate(position, chunk_key(position));
  if (!location.object || location.bytes != std::ssize(to))
    throw_read_error(name(), fmt::format("the chunk at {} was changed while it was read; start again",
                                         fmt::join(position, ", ")));
  location.object->read_at(location.offset, to);
}

void ZarrSource::throw_damaged(const ZarrShape& position, const std::string& fact) const {
  throw_read_error(
      name(), fmt::format("the chunk at {} is damaged: {}; copy it again", fmt::join(position, ", "), fact));
}

std::string ZarrSource::chunk_key(const ZarrShape& position) const {
  return joined_key(key_, array_.chunk_key(position));
}

ZarrSource::Location ZarrSource::locate(const ZarrShape& position, const std::string& key) {
  Location location = locate_unchecked(position, key);
  if (!location.object && refuses_holes_)
    throw_read_error(name(), fmt::format("the chunk at {} is not stored; copy it again, or leave "
                                         "OpenOptions::missing_chunks = error out",
                                         fmt::join(position, ", ")));
  if (location.bytes > ZarrCoder::max_encoded_bytes(array_))
    throw_damaged(position,
                  fmt::format("{} bytes cannot be {} bytes encoded", location.bytes, array_.block_bytes()));
  return location;
}

ZarrSource::Location ZarrSource::locate_unchecked(const ZarrShape& position, const std::string& key) {
  if (array_.shards.empty()) {
    std::shared_ptr<const ZarrObject> object = store_->open(key);
    const std::int64_t bytes = object ? object->size() : 0;
    return {std::move(object), 0, bytes};
  }
  ZarrShape chunk(position.size()), remainder(position.size());
  for (std::size_t i = 0; i < position.size(); ++i) {
    const std::int64_t element = position[i] * array_.block()[i];
    chunk[i] = element / array_.chunk[i];
    remainder[i] = element % array_.chunk[i];
  }
  std::string name = joined_key(key_, array_.chunk_key(chunk));
  Location location;
  const ZarrShape* outer = &array_.chunk;
  for (const ZarrShards& level : array_.shards) {
    const auto parent = shard(level, shard_parts(*outer, level.inner), location, name);
    if (!parent) return {};
    std::size_t part = 0;
    for (const int axis : level.order) {
      const auto i = static_cast<std::size_t>(axis);
      part = part * static_cast<std::size_t>((*outer)[i] / level.inner[i]) +
             static_cast<std::size_t>(remainder[i] / level.inner[i]);
      remainder[i] %= level.inner[i];
    }
    const std::uint64_t offset = parent->index[2 * part], bytes = parent->index[2 * part + 1];
    if (offset == kMissingChunk && bytes == kMissingChunk) return {};
    const auto shard_bytes =
        static_cast<std::uint64_t>(location.object ? location.bytes : parent->object->size());
    if (offset > shard_bytes || bytes > shard_bytes - offset)
      throw_read_error(store_->name_of(name),
                       fmt::format("its index says that a chunk lies at {} and has {} bytes, and the shard "
                                   "has {}; copy it again",
                                   offset, bytes, shard_bytes));
    location = {parent->object, location.offset + static_cast<std::int64_t>(offset),
                static_cast<std::int64_t>(bytes)};
    name += fmt::format("@{}", part);
    outer = &level.inner;
  }
  return location;
}

std::shared_ptr<const ZarrSource::Shard> ZarrSource::shard(const ZarrShards& level, std::int64_t parts,
                                                           const Location& location, const std::string& key) {
  if (auto cached = shards_.find(key)) return cached;
  auto result = std::make_shared<Shard>();
  result->object = location.object;
  if (!result->object) result->object = store_->open(key);
  if (!result->object) return nullptr;
  const std::int64_t shard_bytes = location.object ? location.bytes : result->object->size();
  const std::int64_t entry_bytes = kIndexEntryBytes * parts;
  const std::int64_t bytes = entry_bytes + (level.index_checked ? kIndexChecksumBytes : 0);
  const auto damaged = [&](std::string_view fact) {
    throw_read_error(store_->name_of(key), fmt::format("{}; the shard is damaged, copy it again", fact));
  };
  if (shard_bytes < bytes) damaged("it is too short for the index of its chunks");
  result->index.resize(static_cast<std::size_t>(2 * parts));
  const auto entries = std::as_writable_bytes(std::span(result->index));
  const std::int64_t at = location.offset + (level.index_at_start ? 0 : shard_bytes - bytes);
  result->object->read_at(at, entries);
  std::array<std::byte, kIndexChecksumBytes> sum{};
  if (level.index_checked) result->object->read_at(at + entry_bytes, sum);
  if (level.index_checked && crc32c(entries) != read_unsigned(sum, false))
    damaged("the checksum (crc32c) of its index is wrong");
  for (std::size_t i = 0; i < result->index.size(); ++i)
    result->index[i] = read_unsigned(entries.subspan(8 * i, 8), level.index_big_endian);
  const std::int64_t cache_bytes = std::max(kMinIndexBytes, entry_bytes);
  shards_.insert(key, result, cache_bytes);
  return result;
}

}  // namespace sepconv
