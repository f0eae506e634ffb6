// A disk that fails at its n-th change, refuses a sync, and loses unsynced writes. A program linked with
// faulty_disk.cpp writes through it: system calls for files below a folder are counted, and replaced bytes
// are saved until the write is synced. Directory entries are not lost.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sepconv {

/// Only one instance may exist at a time.
class FaultyDisk {
 public:
  explicit FaultyDisk(std::filesystem::path folder);
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;
  ~FaultyDisk();

  /// Restarts counting. The `change`-th write, rename or removal from now on, counted from 1, fails, and so
  /// do all later ones, as after a kill. 0: no change fails.
  void fail_at_change(std::int64_t change);
  std::int64_t changes() const;

  /// The next sync fails. Its writes never reach the disk, and later syncs succeed.
  void refuse_sync();

  /// The number of files that were removed while open: network file systems keep those under other names.
  std::int64_t removed_while_open() const;

  /// Undoes unsynced writes, each with probability `fraction`, from this seed.
  void lose_unsynced(double fraction, std::uint64_t seed);

 private:
  std::filesystem::path folder_;
};

}  // namespace sepconv
