#include "sepconv/pipeline/machine/file_limits.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

#include "sepconv/core/memory.hpp"
#include "sepconv/pipeline/machine/best_seconds.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kFileBytes = std::int64_t{64} << 20, kPieceBytes = std::int64_t{2} << 20;
constexpr std::int64_t kPieces = kFileBytes / kPieceBytes;

/// A file without a name, whose pages the page cache holds and no disk.
class FileInMemory {
 public:
  FileInMemory() : descriptor_(memfd_create("sepconv-limits", MFD_CLOEXEC)) {}
  ~FileInMemory() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  FileInMemory(const FileInMemory&) = delete;
  FileInMemory& operator=(const FileInMemory&) = delete;

  bool empty() const noexcept { return ftruncate(descriptor_, 0) == 0; }
  bool write(std::int64_t piece, const std::byte* from) const noexcept {
    return pwrite(descriptor_, from, kPieceBytes, piece * kPieceBytes) == kPieceBytes;
  }
  bool read(std::int64_t piece, std::byte* to) const noexcept {
    return pread(descriptor_, to, kPieceBytes, piece * kPieceBytes) == kPieceBytes;
  }

 private:
  int descriptor_;
};

}  // namespace

FileLimits measure_file_limits(ThreadPool& pool) {
  const FileInMemory file;
  const int threads = pool.concurrency();
  const Buffer buffer(threads * kPieceBytes);
  std::memset(buffer.data(), 1, static_cast<std::size_t>(buffer.size()));
  std::atomic<bool> good = true;
  const auto rate = [&](double seconds) { return good ? static_cast<double>(kFileBytes) / seconds : 0; };
  FileLimits limits;
  // The kernel lets one thread at a time write into a file.
  limits.write_bytes_per_second = rate(best_seconds(pool, [&](int thread) {
    if (thread > 0) return;
    bool all = file.empty();
    for (std::int64_t piece = 0; piece < kPieces; ++piece) all = all && file.write(piece, buffer.data());
    if (!all) good = false;
  }));
  limits.read_bytes_per_second = rate(best_seconds(pool, [&](int thread) {
    bool all = true;
    for (std::int64_t piece = thread; piece < kPieces; piece += threads)
      all = all && file.read(piece, buffer.data() + thread * kPieceBytes);
    if (!all) good = false;
  }));
  if (!good) return {};
  return limits;
}

}  // namespace sepconv
