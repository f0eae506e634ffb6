// Samples (checksums of some bytes) of the data of a checkpoint. They are computed when the data are written
// and compared when the checkpoint is resumed. Internal to io/.
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

/// A checksum of some written bytes.
struct Sample {
  std::string file;  ///< name in the checkpoint folder
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t reach = 0;  ///< minimum size of the file
  std::uint32_t checksum = 0;
  bool is_whole = false;  ///< `reach` is the exact size
};

/// Whether the regular file at `path` contains the sample. False for a symbolic link.
bool has_sample(const std::filesystem::path& path, const Sample& sample);

/// The samples of the next record. Buffers at most about a thousand. Thread-safe.
class PartialSamples {
 public:
  /// Samples are written to the journal that the function returns; null if none exists yet.
  explicit PartialSamples(std::function<CheckpointLog*()> journal);

  /// Announces the size of the result.
  void expect(std::int64_t bytes) noexcept;
  /// Samples the beginning of bytes that were written to a file at `offset`.
  void add(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes);
  /// Samples the first bytes of a complete file of `file_bytes` bytes.
  void add_whole(const std::string& file, std::int64_t file_bytes, std::span<const std::byte> bytes);
  /// As add(), at regular distances in the file.
  void add_by_stride(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes);
  /// As add_by_stride(), for the result file. Each record gets at least one sample and the minimum size of
  /// the file.
  void add_stream(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes);
  /// Writes the buffered samples to the journal.
  void record();

 private:
  void add_locked(Sample sample);
  void write();

  std::function<CheckpointLog*()> journal_;
  std::atomic<std::int64_t> stride_;
  std::atomic<bool> has_first_sample_ = false;
  std::mutex mutex_;
  std::vector<Sample> buffered_;
  Sample last_written_{};  // without sampled bytes
};

}  // namespace sepconv
