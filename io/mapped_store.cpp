#include "io/mapped_store.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/start_thread.hpp"

#ifndef MADV_POPULATE_WRITE  // since Linux 5.14
#define MADV_POPULATE_WRITE 23
#endif

namespace sepconv {

MappedStore::FileSystem MappedStore::file_system_of(const std::filesystem::path& folder) noexcept {
  struct statfs system {};
  if (statfs(folder.c_str(), &system) != 0) return {};
  switch (system.f_type) {
    case EXT4_SUPER_MAGIC:
      return {.threads = 6, .reserves_at_once = true};
    case TMPFS_MAGIC:
      return {.threads = kMaxThreads, .reserves_gradually = true};
    default:
      return {};
  }
}

MappedStore::MappedStore(const std::filesystem::path& folder, std::int64_t file_bytes) noexcept
    : file_system_(file_system_of(folder)), file_bytes_(file_bytes) {}

int MappedStore::reserve(int descriptor) noexcept {
  if (!file_system_.reserves_at_once) return 0;
  int failed = 0;
  do failed = fallocate(descriptor, 0, 0, static_cast<off_t>(file_bytes_)) == 0 ? 0 : errno;
  while (failed == EINTR);
  if (failed == ENOSPC || failed == EDQUOT || failed == EFBIG) return failed;
  if (failed != 0) file_system_ = {};
  return 0;
}

void MappedStore::begin(int descriptor) {
  const std::scoped_lock lock(mutex_);
  if (descriptor_ >= 0) return;
  descriptor_ = descriptor;
  struct stat status {};
  usable_ = fstat(descriptor, &status) == 0 &&
            (status.st_size >= file_bytes_ || ftruncate(descriptor, static_cast<off_t>(file_bytes_)) == 0);
  if (!usable_ || !file_system_.reserves_gradually) return;
  try {
    reserver_ = start_thread([this](const std::stop_token& stop) { reserve_gradually(stop); });
  } catch (const std::exception&) {  // pages are allocated by store() then
  }
}

MappedStore::~MappedStore() {
  for (const Window& window : windows_)
    if (window.begin != nullptr) munmap(window.begin, static_cast<std::size_t>(bytes_of(window.index)));
}

/// Allocates the file's pages from its beginning. Where this fails, store() fails or finds space again.
void MappedStore::reserve_gradually(const std::stop_token& stop) const noexcept {
  constexpr std::int64_t kStepBytes = std::int64_t{16} << 20;
  for (std::int64_t offset = 0; offset < file_bytes_ && !stop.stop_requested(); offset += kStepBytes) {
    const std::int64_t bytes = std::min(kStepBytes, file_bytes_ - offset);
    if (fallocate(descriptor_, FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset), static_cast<off_t>(bytes)) !=
        0)
      return;
  }
}

std::int64_t MappedStore::bytes_of(std::int64_t index) const noexcept {
  return std::min(kWindowBytes, file_bytes_ - index * kWindowBytes);
}

/// Null if the window cannot be mapped, or if all others are in use.
MappedStore::Window* MappedStore::acquire(std::int64_t index) noexcept {
  const std::scoped_lock lock(mutex_);
  if (!usable_) return nullptr;
  Window* oldest = nullptr;
  for (Window& window : windows_) {
    if (window.index == index) {
      ++window.users;
      window.last_use = ++uses_;
      return &window;
    }
    if (window.users == 0 && (oldest == nullptr || window.last_use < oldest->last_use)) oldest = &window;
  }
  if (oldest == nullptr) return nullptr;
  if (oldest->begin != nullptr) munmap(oldest->begin, static_cast<std::size_t>(bytes_of(oldest->index)));
  void* const begin = mmap(nullptr, static_cast<std::size_t>(bytes_of(index)), PROT_READ | PROT_WRITE,
                           MAP_SHARED, descriptor_, static_cast<off_t>(index * kWindowBytes));
  if (begin == MAP_FAILED) {  // no address space, or the file system maps no files
    *oldest = {};
    usable_ = false;
    return nullptr;
  }
  *oldest = {index, static_cast<std::byte*>(begin), 1, ++uses_};
  return oldest;
}

void MappedStore::release(Window& window) noexcept {
  const std::scoped_lock lock(mutex_);
  --window.users;
}

bool MappedStore::store(std::int64_t offset, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const std::int64_t in_window = kWindowBytes - offset % kWindowBytes;
    const std::int64_t count = std::min({std::ssize(bytes), in_window, kMaxPieceBytes});
    if (!store_piece(offset, bytes.first(static_cast<std::size_t>(count)))) return false;
    offset += count;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

/// The piece is within one window.
bool MappedStore::store_piece(std::int64_t offset, std::span<const std::byte> bytes) noexcept {
  if (offset + std::ssize(bytes) > file_bytes_) return false;
  Window* const window = acquire(offset / kWindowBytes);
  if (window == nullptr) return false;
  std::byte* const target = window->begin + offset % kWindowBytes;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(target) / page * page;
  const std::size_t length = reinterpret_cast<std::uintptr_t>(target) + bytes.size() - first;
  bool stored = madvise(reinterpret_cast<void*>(first), length, MADV_POPULATE_WRITE) == 0;
  if (stored) {
    const iovec to{target, bytes.size()};
    const iovec from{const_cast<std::byte*>(bytes.data()), bytes.size()};
    stored = process_vm_readv(getpid(), &to, 1, &from, 1, 0) == static_cast<ssize_t>(bytes.size());
    madvise(reinterpret_cast<void*>(first), length, MADV_DONTNEED);
  }
  release(*window);
  if (!stored) {
    const std::scoped_lock lock(mutex_);
    usable_ = false;  // an old kernel, a sandbox, or a full disk
  }
  return stored;
}

}  // namespace sepconv
