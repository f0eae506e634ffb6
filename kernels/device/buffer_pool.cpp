#include "kernels/device/buffer_pool.hpp"

#include <new>
#include <utility>

#include "kernels/device/runtime.hpp"

namespace sepconv {
namespace {

/// The device of new blocks. For an unknown upstream resource it is the current device, if there is one.
int device_of(const std::pmr::memory_resource* upstream) {
  if (upstream == pinned_resource()) return 0;
  try {
    return current_device();
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

void BufferPool::release() noexcept {
  const std::scoped_lock lock(mutex_);
  for (const auto& [memory, block] : std::exchange(free_blocks_, {}))
    upstream_->deallocate(memory, block.bytes, block.alignment);
}

void* BufferPool::do_allocate(std::size_t bytes, std::size_t alignment) {
  const int device = device_of(upstream_);
  const std::scoped_lock lock(mutex_);
  if (void* const memory = reuse_block(bytes, alignment, device)) return memory;
  void* const memory = allocate_upstream(bytes, alignment);
  used_blocks_.insert({memory, {bytes, alignment, device}});
  return memory;
}

void BufferPool::do_deallocate(void* memory, std::size_t, std::size_t) {
  const std::scoped_lock lock(mutex_);
  free_blocks_.insert(used_blocks_.extract(memory));
}

void* BufferPool::reuse_block(std::size_t bytes, std::size_t alignment, int device) {
  auto best = free_blocks_.end();
  for (auto candidate = free_blocks_.begin(); candidate != free_blocks_.end(); ++candidate) {
    const Block& block = candidate->second;
    const bool fits = block.device == device && block.alignment >= alignment && block.bytes >= bytes &&
                      block.bytes / 2 <= bytes;
    if (fits && (best == free_blocks_.end() || block.bytes < best->second.bytes)) best = candidate;
  }
  if (best == free_blocks_.end()) return nullptr;
  return used_blocks_.insert(free_blocks_.extract(best)).position->first;
}

/// Allocates from upstream. If that fails, frees all unused blocks and tries again.
void* BufferPool::allocate_upstream(std::size_t bytes, std::size_t alignment) {
  try {
    return upstream_->allocate(bytes, alignment);
  } catch (const std::bad_alloc&) {
    if (free_blocks_.empty()) throw;
  }
  for (const auto& [memory, block] : std::exchange(free_blocks_, {}))
    upstream_->deallocate(memory, block.bytes, block.alignment);
  return upstream_->allocate(bytes, alignment);
}

}  // namespace sepconv
