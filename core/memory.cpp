#include "core/memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <new>
#include <stdexcept>

#include "core/error.hpp"

namespace sepconv {
namespace {

class PageResource final : public std::pmr::memory_resource {
  void* do_allocate(std::size_t bytes, std::size_t) override {
    void* pages = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    // Huge pages reduce page faults to a tenth. The first byte touched may make 2 MiB resident, never more
    // than `bytes`. The call has no effect on a system without huge pages.
    madvise(pages, bytes, MADV_HUGEPAGE);
    return pages;
  }
  void do_deallocate(void* pages, std::size_t bytes, std::size_t) override { munmap(pages, bytes); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

std::pmr::memory_resource* page_resource() noexcept {
  static PageResource resource;
  return &resource;
}

Buffer::Buffer(std::int64_t bytes, std::pmr::memory_resource* resource) : bytes_(bytes), resource_(resource) {
  if (bytes == 0) return;
  try {
    data_ = static_cast<std::byte*>(resource->allocate(static_cast<std::size_t>(bytes), kAlignment));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(
        fmt::format("cannot allocate {} bytes; give a smaller PlanOptions::max_memory_bytes, free some "
                    "memory or raise the limit (ulimit)",
                    bytes));
  }
}

Buffer::~Buffer() {
  if (data_ != nullptr) resource_->deallocate(data_, static_cast<std::size_t>(bytes_), kAlignment);
}

PixelView Arena::allocate_view(Extent extent, std::int64_t channels, PixelType type) {
  const std::int64_t pitch_bytes = aligned_pitch_bytes(extent.cols * channels * size_of(type));
  return {allocate_bytes(extent.rows * pitch_bytes), extent, channels, type, pitch_bytes};
}

std::byte* Arena::allocate_bytes(std::int64_t bytes) {
  const std::int64_t end = used_ + bytes_for(bytes);
  if (end > block_.size()) {
    throw std::logic_error(
        fmt::format("scratch arena of {} bytes is too small for {} bytes: a stage's scratch_bytes() promised "
                    "less than it uses",
                    block_.size(), end));
  }
  std::byte* const result = block_.data() + used_;
  used_ = end;
  return result;
}

}  // namespace sepconv
