// Samples of what a partial result has, by which it is known again: taken from the memory that is written,
// and looked for in what is there later. Internal to io/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace sepconv {

class CheckpointLog;

/// Some bytes of what was written.
struct Sample {
  std::string file;  ///< its name in the folder
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t reach = 0;  ///< the file has at least this many bytes
  std::uint32_t checksum = 0;
  bool is_whole = false;  ///< and no more
};

/// Whether the file at `path` has it; what a link leads to does not.
bool has_sample(const std::filesystem::path& path, const Sample& sample);

/// Those of the next record, a thousand of which are held at most. Thread-safe.
class PartialSamples {
 public:
  /// They go to this journal, which is asked for when they are too many or to be recorded; null: not yet.
  explicit PartialSamples(std::function<CheckpointLog*()> journal);

  /// The result will have this many bytes.
  void expect(std::int64_t bytes) noexcept;
  /// The beginning of what was written to a file, and how far it reached.
  void add(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes);
  /// A file that becomes no longer has this many bytes, of which these are the first.
  void add_whole(const std::string& file, std::int64_t file_bytes, std::span<const std::byte> bytes);
  /// The same at each this many bytes of a file.
  void add_by_stride(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes);
  /// The same of the file that grows, of which each record has at least one, and how far it reaches.
  void add_growing(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes);
  /// Puts them into the journal.
  void record();

 private:
  void add_with_lock(Sample sample);
  void write();

  std::function<CheckpointLog*()> journal_;
  std::atomic<std::int64_t> stride_;
  std::atomic<bool> has_some_ = false;
  std::mutex mutex_;
  std::vector<Sample> held_;
  Sample furthest_{};  // of no bytes
};

}  // namespace sepconv
