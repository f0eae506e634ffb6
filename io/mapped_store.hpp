// Stores bytes in a new file from several threads, through memory mappings.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <thread>

namespace sepconv {

/// The kernel lets one thread at a time write to a file (write(2) holds the inode's lock), but any number of
/// threads may store to its mapped pages. A piece is stored in three calls: MADV_POPULATE_WRITE allocates its
/// pages, process_vm_readv() copies the bytes, and MADV_DONTNEED unmaps the pages, which stay in the page
/// cache. All three return an error where a store instruction would raise SIGBUS: disk full, quota, file
/// truncated. decisions/0033 has the measurements.
class MappedStore {
 public:
  /// Files smaller than this are written without mappings.
  static constexpr std::int64_t kMinFileBytes = std::int64_t{32} << 20;
  /// Upper bound of the resident bytes of one thread's store().
  static constexpr std::int64_t kMaxPieceBytes = std::int64_t{1} << 20;
  /// Upper bound of threads().
  static constexpr int kMaxThreads = 8;
  /// Upper bound of resident memory: the mapped pieces and the page tables.
  static constexpr std::int64_t kMemoryBytes = kMaxThreads * kMaxPieceBytes + (std::int64_t{4} << 20);

  /// For a file in this folder that has this size when it is complete.
  MappedStore(const std::filesystem::path& folder, std::int64_t file_bytes) noexcept;
  MappedStore(const MappedStore&) = delete;
  MappedStore& operator=(const MappedStore&) = delete;
  ~MappedStore();

  /// More threads than this store no faster. 1: mappings of this file system are slower than pwrite().
  int threads() const noexcept { return file_system_.threads; }
  /// Reserves the file's size, if that takes no time. Returns 0, or an errno if the file does not fit.
  int reserve(int descriptor) noexcept;
  /// Permits store(). `descriptor`: open for reading and writing, not owned. Extends the file to its size. Only
  /// the first call does anything. Thread-safe.
  void begin(int descriptor);

  /// Stores bytes at an offset. Thread-safe. False if not all could be stored, and before begin(): the caller
  /// writes them with pwrite(), which succeeds or returns the reason.
  bool store(std::int64_t offset, std::span<const std::byte> bytes) noexcept;

 private:
  /// The file system's properties that decide how its files are written.
  struct FileSystem {
    int threads = 1;
    bool reserves_at_once = false;    ///< fallocate() takes no time that depends on the number of bytes
    bool reserves_gradually = false;  ///< fallocate() clears pages, faster than threads that store to them
  };
  static FileSystem file_system_of(const std::filesystem::path& folder) noexcept;

  struct Window {
    std::int64_t index = -1;  // offset / kWindowBytes
    std::byte* begin = nullptr;
    int users = 0;
    std::uint64_t last_use = 0;
  };
  // A page table of 4 KiB maps 2 MiB, so all windows need 2 MiB of page tables.
  static constexpr std::int64_t kWindowBytes = std::int64_t{64} << 20;
  static constexpr std::size_t kWindows = 16;

  Window* acquire(std::int64_t index) noexcept;
  void release(Window& window) noexcept;
  std::int64_t bytes_of(std::int64_t index) const noexcept;
  bool store_piece(std::int64_t offset, std::span<const std::byte> bytes) noexcept;
  void reserve_gradually(const std::stop_token& stop) const noexcept;

  FileSystem file_system_;
  const std::int64_t file_bytes_;
  std::mutex mutex_;
  int descriptor_ = -1;  // after begin()
  bool usable_ = false;
  std::uint64_t uses_ = 0;
  std::array<Window, kWindows> windows_{};
  std::jthread reserver_;  // last: ends before the other members
};

}  // namespace sepconv
