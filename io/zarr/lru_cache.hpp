// What is costly to make, kept while there is room. Private to this folder.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace sepconv {

/// Holds values by their keys up to this many bytes; what was not asked for the longest goes first.
/// Thread-safe.
template <class Key, class Value>
class LruCache {
 public:
  explicit LruCache(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  void resize(std::int64_t max_bytes) {
    const std::lock_guard lock(mutex_);
    max_bytes_ = max_bytes;
  }

  /// Null if it is not held.
  std::shared_ptr<const Value> find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    items_.splice(items_.begin(), items_, found->second);
    return found->second->value;
  }

  void keep(const Key& key, std::shared_ptr<const Value> value, std::int64_t bytes) {
    const std::lock_guard lock(mutex_);
    if (bytes > max_bytes_ || places_.contains(key)) return;
    for (; bytes_ + bytes > max_bytes_; items_.pop_back()) {
      bytes_ -= items_.back().bytes;
      places_.erase(items_.back().key);
    }
    items_.push_front({key, std::move(value), bytes});
    places_[key] = items_.begin();
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
  std::unordered_map<Key, typename std::list<Item>::iterator> places_;
};

}  // namespace sepconv
