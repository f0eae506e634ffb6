// Owning host memory: Buffer for the lifetime of a run, Arena for scratch.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/image.hpp"

namespace sepconv {

/// Alignment of every buffer, row and arena allocation (a cache line, and the widest vector).
inline constexpr std::int64_t kAlignment = 64;

/// A memory resource that maps and unmaps pages, so that freed memory is returned to the system immediately.
/// Throws std::bad_alloc. Process-wide and stateless.
std::pmr::memory_resource* page_resource() noexcept;

/// Move-only owner of uninitialised bytes from a memory resource, which must outlive it. Throws OutOfMemory.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::int64_t bytes, std::pmr::memory_resource* resource = page_resource());
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer();

  std::byte* data() const noexcept { return data_; }
  std::int64_t size() const noexcept { return bytes_; }
  std::span<std::byte> bytes() const noexcept { return {data_, static_cast<std::size_t>(bytes_)}; }

  void swap(Buffer& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(resource_, other.resource_);
  }

 private:
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::pmr::memory_resource* resource_ = nullptr;
};

/// Pitch of dense scratch images: a row rounded up to kAlignment.
constexpr std::int64_t aligned_pitch_bytes(std::int64_t row_bytes) noexcept {
  return round_up(row_bytes, kAlignment);
}

/// Bump allocator over a fixed block whose size the plan has computed. Not thread-safe: one per thread.
/// Memory allocated (uninitialised, aligned to kAlignment) during the lifetime of an Arena::Scope is freed at
/// its end.
///
/// Running out of space is a bug in a scratch_bytes() function and throws std::logic_error.
class Arena {
 public:
  Arena() = default;
  explicit Arena(Buffer block) : block_(std::move(block)) {}

  template <class T>
  T* allocate(std::int64_t count) {
    return reinterpret_cast<T*>(allocate_bytes(count * static_cast<std::int64_t>(sizeof(T))));
  }

  /// An uninitialised image with an aligned pitch; view_bytes() returns its size.
  PixelView allocate_view(Extent extent, std::int64_t channels, PixelType type);

  static constexpr std::int64_t bytes_for(std::int64_t bytes) noexcept { return round_up(bytes, kAlignment); }
  static constexpr std::int64_t view_bytes(Extent extent, std::int64_t channels, PixelType type) noexcept {
    return extent.rows * aligned_pitch_bytes(extent.cols * channels * size_of(type));
  }

  class Scope {
   public:
    explicit Scope(Arena& arena) noexcept : arena_(arena), mark_(arena.used_) {}
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope() { arena_.used_ = mark_; }

   private:
    Arena& arena_;
    std::int64_t mark_;
  };

  std::int64_t used_bytes() const noexcept { return used_; }
  std::int64_t capacity_bytes() const noexcept { return block_.size(); }

 private:
  std::byte* allocate_bytes(std::int64_t bytes);

  Buffer block_;
  std::int64_t used_ = 0;
};

}  // namespace sepconv
