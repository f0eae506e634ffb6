// A disk that dies at its n-th write and loses what was not synced. The program that has losing_disk.cpp in
// it writes through it: its calls of the system for files below a folder are counted, and what they replaced
// is kept until it is synced. Directories keep their entries.
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

  /// Counts anew. The `write`-th write from now on, from 1, fails, and all that would change a file after it,
  /// as after a kill; 0: none does.
  void die_at(std::int64_t write);
  std::int64_t writes() const;

  /// Takes back what was not synced: each write by itself with a chance of `share`, from this seed.
  void lose(double share, std::uint64_t seed);

 private:
  std::filesystem::path folder_;
};

}  // namespace sepconv
