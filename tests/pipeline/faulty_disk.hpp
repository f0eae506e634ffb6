// A disk that dies at its n-th change, refuses a sync, and loses what was not synced. The program that has
// faulty_disk.cpp in it writes through it: its calls of the system for files below a folder are counted, and
// what writes replaced is kept until it is synced. Directories keep their entries.
#pragma once

#include <cstdint>
#include <filesystem>

namespace sepconv {

/// One at a time.
class LosingDisk {
 public:
  explicit LosingDisk(std::filesystem::path folder);
  LosingDisk(const LosingDisk&) = delete;
  LosingDisk& operator=(const LosingDisk&) = delete;
  ~LosingDisk();

  /// Counts anew. The `change`-th write, rename or removal from now on, from 1, fails, and all after it, as
  /// after a kill; 0: none does.
  void die_at(std::int64_t change);
  std::int64_t changes() const;

  /// The next sync fails. What it was to bring to the disk never comes there, and later syncs do not say so.
  void refuse_sync();

  /// How many files were removed that the program had open: network file systems keep those under other
  /// names.
  std::int64_t removed_while_open() const;

  /// Takes back what was not synced: each write by itself with a chance of `share`, from this seed.
  void lose(double share, std::uint64_t seed);

 private:
  std::filesystem::path folder_;
};

}  // namespace sepconv
