// A cache of bounded size. Private to this folder.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace sepconv {

/// Caches values up to `max_bytes` and evicts those not used for longest first. Thread-safe.
template <class Key, class Value>
class LruCache {
 public:
  explicit LruCache(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  void resize(std::int64_t max_bytes) {
    const std::lock_guard lock(mutex_);
    max_bytes_ = max_bytes;
  }

  /// Null if the key is not cached.
  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    items_.splice(items_.begin(), items_, found->second);
    return found->second->value;
  }

  /// Does nothing for a cached key, or for a value larger than the cache.
  void insert(const Key& key, std::shared_ptr<const Value> value, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > max_bytes_ || index_.contains(key)) return;
    for (; bytes_ + bytes > max_bytes_; items_.pop_back()) {
      bytes_ -= items_.back().bytes;
      index_.erase(items_.back().key);
    }
    items_.push_front({key, std::move(value), bytes});
    index_[key] = items_.begin();
    bytes_ += bytes;
  }

 private:
  struct Item {
    Key key;
    std::shared_ptr<const Value> value;
    std::int64_t bytes;
  };

  std::mutex mutex_;
  std::int64_t max_bytes_;
  std::int64_t bytes_ = 0;
  std::list<Item> items_;
  std::unordered_map<Key, typename std::list<Item>::iterator> index_;
};

}  // namespace sepconv
