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

constexpr std::uint64_t kNoPlace = ~std::uint64_t{0};
constexpr std::int64_t kIndexEntryBytes = 16;
constexpr std::int64_t kIndexChecksumBytes = 4;
/// For shards' indices that are kept, and a share for each, so that there are not too many open files.
constexpr std::int64_t kIndexBytes = 32 << 20;
constexpr std::int64_t kMinIndexBytes = kIndexBytes / 64;

/// For what is in all shards around one block.
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
      throw_read_error(name(), fmt::format("its shards have more than {} chunks, whose places are too many "
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
                                     : 0);  // to inflate them
}

Buffer ZarrSource::take_buffer() {
  const std::lock_guard lock(idle_lock_);
  if (idle_.empty()) return Buffer(array_.block_bytes());
  Buffer buffer = std::move(idle_.back());
  idle_.pop_back();
  return buffer;
}

std::shared_ptr<const Buffer> ZarrSource::block(const ZarrShape& position, bool again) {
  const std::string key = key_of(position);
  if (auto held = blocks_.find(key)) return held;
  const Place place = find(position, key);
  if (!place.object) return nullptr;
  const auto give_back = [this](Buffer* buffer) {
    const std::lock_guard lock(idle_lock_);
    idle_.push_back(std::move(*buffer));
    delete buffer;
  };
  const std::shared_ptr<Buffer> made(new Buffer(take_buffer()), give_back);
  const auto coder = coders_.lease([&] { return std::make_unique<ZarrCoder>(array_); });
  place.object->read_at(place.offset, coder->encoded_buffer(place.bytes, made->bytes()));
  if (const std::string wrong = coder->decode(made->bytes()); !wrong.empty()) throw_damaged(position, wrong);
  if (again) blocks_.insert(key, made, kept_bytes());
  return made;
}

std::int64_t ZarrSource::stored_bytes(const ZarrShape& position) {
  return find(position, key_of(position)).bytes;
}

void ZarrSource::read_stored(const ZarrShape& position, std::span<std::byte> to) {
  const Place place = find(position, key_of(position));
  if (!place.object || place.bytes != std::ssize(to))
    throw_read_error(name(), fmt::format("the chunk at {} was changed while it was read; start again",
                                         fmt::join(position, ", ")));
  place.object->read_at(place.offset, to);
}

void ZarrSource::throw_damaged(const ZarrShape& position, const std::string& fact) const {
  throw_read_error(
      name(), fmt::format("the chunk at {} is damaged: {}; copy it anew", fmt::join(position, ", "), fact));
}

std::string ZarrSource::key_of(const ZarrShape& position) const {
  return joined_key(key_, array_.key_of(position));
}

ZarrSource::Place ZarrSource::find(const ZarrShape& position, const std::string& key) {
  Place place = place_of(position, key);
  if (!place.object && refuses_holes_)
    throw_read_error(name(), fmt::format("the chunk at {} is not stored; copy it anew, or leave "
                                         "OpenOptions::missing_chunks = error out",
                                         fmt::join(position, ", ")));
  if (place.bytes > ZarrCoder::max_encoded_bytes(array_))
    throw_damaged(position,
                  fmt::format("{} bytes cannot be {} bytes encoded", place.bytes, array_.block_bytes()));
  return place;
}

ZarrSource::Place ZarrSource::place_of(const ZarrShape& position, const std::string& key) {
  if (array_.shards.empty()) {
    std::shared_ptr<const ZarrObject> object = store_->open(key);
    const std::int64_t bytes = object ? object->size() : 0;
    return {std::move(object), 0, bytes};
  }
  ZarrShape chunk(position.size()), rest(position.size());
  for (std::size_t i = 0; i < position.size(); ++i) {
    const std::int64_t element = position[i] * array_.block()[i];
    chunk[i] = element / array_.chunk[i];
    rest[i] = element % array_.chunk[i];
  }
  std::string name = joined_key(key_, array_.key_of(chunk));
  Place place;
  const ZarrShape* outer = &array_.chunk;
  for (const ZarrShards& level : array_.shards) {
    const auto within = shard(level, shard_parts(*outer, level.inner), place, name);
    if (!within) return {};
    std::size_t part = 0;
    for (const int axis : level.order) {
      const auto i = static_cast<std::size_t>(axis);
      part = part * static_cast<std::size_t>((*outer)[i] / level.inner[i]) +
             static_cast<std::size_t>(rest[i] / level.inner[i]);
      rest[i] %= level.inner[i];
    }
    const std::uint64_t offset = within->places[2 * part], bytes = within->places[2 * part + 1];
    if (offset == kNoPlace && bytes == kNoPlace) return {};
    const auto all = static_cast<std::uint64_t>(place.object ? place.bytes : within->object->size());
    if (offset > all || bytes > all - offset)
      throw_read_error(store_->name_of(name),
                       fmt::format("its index says that a chunk lies at {} and has {} bytes, and the shard "
                                   "has {}; copy it anew",
                                   offset, bytes, all));
    place = {within->object, place.offset + static_cast<std::int64_t>(offset),
             static_cast<std::int64_t>(bytes)};
    name += fmt::format("@{}", part);
    outer = &level.inner;
  }
  return place;
}

std::shared_ptr<const ZarrSource::Shard> ZarrSource::shard(const ZarrShards& level, std::int64_t parts,
                                                           const Place& place, const std::string& key) {
  if (auto held = shards_.find(key)) return held;
  auto made = std::make_shared<Shard>();
  made->object = place.object;
  if (!made->object) made->object = store_->open(key);
  if (!made->object) return nullptr;
  const std::int64_t all = place.object ? place.bytes : made->object->size();
  const std::int64_t numbers = kIndexEntryBytes * parts;
  const std::int64_t bytes = numbers + (level.index_checked ? kIndexChecksumBytes : 0);
  const auto damaged = [&](std::string_view fact) {
    throw_read_error(store_->name_of(key), fmt::format("{}; the shard is damaged, copy it anew", fact));
  };
  if (all < bytes) damaged("it is too short for the index of its chunks");
  made->places.resize(static_cast<std::size_t>(2 * parts));
  const auto entries = std::as_writable_bytes(std::span(made->places));
  const std::int64_t at = place.offset + (level.index_at_start ? 0 : all - bytes);
  made->object->read_at(at, entries);
  std::array<std::byte, kIndexChecksumBytes> sum{};
  if (level.index_checked) made->object->read_at(at + numbers, sum);
  if (level.index_checked && crc32c(entries) != number_in(sum, false))
    damaged("the checksum (crc32c) of its index is wrong");
  for (std::size_t i = 0; i < made->places.size(); ++i)
    made->places[i] = number_in(entries.subspan(8 * i, 8), level.index_big_endian);
  const std::int64_t held = std::max(kMinIndexBytes, numbers);
  shards_.insert(key, made, held);
  return made;
}

}  // namespace sepconv
