// Memory that is kept from run to run: page-locking costs a third of a second per GiB, and a program that
// filters many images pays it once.
#pragma once

#include <cstddef>
#include <map>
#include <memory_resource>
#include <mutex>

namespace sepconv {

/// A memory resource that keeps what is given back and hands it out again: the smallest kept block that is
/// large enough and wastes at most half of itself. Blocks are kept by the device that is current when they
/// are allocated, those of pinned_resource() aside, which serve all. What is kept counts towards no run's
/// ceilings. Thread-safe. `upstream` must outlive the pool, and everything allocated from the pool must have
/// been given back when it is destroyed.
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

  /// Gives everything that is kept back to upstream.
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
