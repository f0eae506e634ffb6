// A pool of expensive objects that are used by one thread at a time: leased, returned and reused.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace sepconv {

/// Contains as many objects as were ever in use simultaneously. Thread-safe; must outlive its leases.
template <class T>
class ObjectPool {
 public:
  class Lease {
   public:
    Lease(ObjectPool& pool, std::unique_ptr<T> item) noexcept : pool_(&pool), item_(std::move(item)) {}
    Lease(Lease&&) noexcept = default;
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (item_) pool_->give_back(std::move(item_));
    }
    T& operator*() const noexcept { return *item_; }
    T* operator->() const noexcept { return item_.get(); }

   private:
    ObjectPool* pool_;
    std::unique_ptr<T> item_;
  };

  /// Leases an idle object, or a new one from make(), which returns a unique_ptr<T>.
  template <class Make>
  Lease lease(Make make) {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        std::unique_ptr<T> item = std::move(idle_.back());
        idle_.pop_back();
        return {*this, std::move(item)};
      }
    }
    return {*this, make()};
  }

  /// Frees the idle objects.
  void clear() {
    const std::lock_guard lock(mutex_);
    idle_.clear();
  }

 private:
  void give_back(std::unique_ptr<T> item) noexcept {
    const std::lock_guard lock(mutex_);
    try {
      idle_.push_back(std::move(item));
    } catch (...) {  // no memory to retain it:
    }
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<T>> idle_;
};

}  // namespace sepconv
