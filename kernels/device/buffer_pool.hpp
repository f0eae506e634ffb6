// A memory pool that is reused from run to run: page-locking costs a third of a second per GiB, and a program
// that filters many images pays it only once.
#pragma once

#include <cstddef>
#include <map>
#include <memory_resource>
#include <mutex>

namespace sepconv {

/// A memory resource that retains freed blocks and reuses them. An allocation gets the smallest free block
/// that is large enough and wastes at most half of itself. A block is reused only while the device is current
/// that was current at its allocation; blocks of pinned_resource() are shared by all devices. Free blocks do
/// not count towards a run's memory limits. Thread-safe. `upstream` must outlive the pool, and everything
/// allocated from the pool must have been freed when it is destroyed.
///
///   BufferPool pinned(pinned_resource()), memory(device_resource());
///   RunOptions options;
///   options.devices = {0};
///   options.pinned_memory = &pinned;
///   options.device_memory = &memory;
///   for (const Job& job : jobs) run(*job.source, *job.sink, chain, options);
class BufferPool final : public std::pmr::memory_resource {
 public:
  explicit BufferPool(std::pmr::memory_resource* upstream) : upstream_(upstream) {}
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool() override { release(); }

  /// Returns all free blocks to upstream.
  void release() noexcept;

 private:
  struct Block {
    std::size_t bytes;
    std::size_t alignment;
    int device;
  };

  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  void* reuse_block(std::size_t bytes, std::size_t alignment, int device);
  void* allocate_upstream(std::size_t bytes, std::size_t alignment);

  std::pmr::memory_resource* upstream_;
  std::mutex mutex_;
  std::map<void*, Block> used_blocks_;
  std::map<void*, Block> free_blocks_;
};

}  // namespace sepconv
