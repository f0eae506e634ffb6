#include "pipeline/machine/page_cache_rate.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>

#include "core/memory.hpp"
#include "pipeline/machine/min_time.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxFileBytes = std::int64_t{32} << 20, kMaxPieceBytes = std::int64_t{2} << 20;

/// An unnamed file whose pages are in the page cache only.
class FileInMemory {
 public:
  explicit FileInMemory(std::int64_t piece_bytes)
      : descriptor_(memfd_create("sepconv-limits", MFD_CLOEXEC)), piece_bytes_(piece_bytes) {}
  ~FileInMemory() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;

  bool empty() const noexcept { return ftruncate(descriptor_, 0) == 0; }
  bool write(std::int64_t piece, const std::byte* from) const noexcept {
    return pwrite(descriptor_, from, bytes(), piece * piece_bytes_) == piece_bytes_;
  }
  bool read(std::int64_t piece, std::byte* to) const noexcept {
    return pread(descriptor_, to, bytes(), piece * piece_bytes_) == piece_bytes_;
  }

 private:
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(piece_bytes_); }

  int descriptor_;
  std::int64_t piece_bytes_;
};

}  // namespace

PageCacheRate measure_file_limits(int max_threads, std::int64_t bytes) {
  ThreadPool pool({.threads = std::max(max_threads, 1)});
  const int threads = pool.concurrency();
  const std::int64_t piece_bytes = std::min(kMaxPieceBytes, bytes / 4 / threads);
  const std::int64_t pieces = std::min(kMaxFileBytes, bytes / 2) / std::max<std::int64_t>(piece_bytes, 1);
  if (piece_bytes == 0) return {};
  const FileInMemory file(piece_bytes);
  const Buffer buffer(threads * piece_bytes);
  std::memset(buffer.data(), 1, static_cast<std::size_t>(buffer.size()));
  std::atomic<bool> succeeded = true;
  PageCacheRate limits;
  const auto rate = [&](const BestTime& best) {
    limits.processor_share = std::min(limits.processor_share, best.processor_share);
    return succeeded ? static_cast<double>(pieces * piece_bytes) / best.seconds : 0;
  };
  // The kernel lets one thread at a time write to a file.
  limits.write_bytes_per_second = rate(best_round(pool, [&](int thread) {
    if (thread > 0) return;
    bool ok = file.empty();
    for (std::int64_t piece = 0; piece < pieces; ++piece) ok = ok && file.write(piece, buffer.data());
    if (!ok) succeeded = false;
  }));
  limits.read_bytes_per_second = rate(best_round(pool, [&](int thread) {
    bool ok = true;
    for (std::int64_t piece = thread; piece < pieces; piece += threads)
      ok = ok && file.read(piece, buffer.data() + thread * piece_bytes);
    if (!ok) succeeded = false;
  }));
  if (!succeeded) return {};
  return limits;
}

}  // namespace sepconv
