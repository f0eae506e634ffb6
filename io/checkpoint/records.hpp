// What the lines of a checkpoint's log state: completed bands, and samples (checksums of some bytes) of their
// data. Samples are computed when the data are written and compared when the checkpoint is resumed. Internal
// to io/checkpoint/.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/checkpoint/checkpoint.hpp"

namespace sepconv {

/// The text of a record, on one line.
std::string record_text(const CompletedBands& record);
/// Returns null for other text. File names are relative to the checkpoint folder.
std::optional<CompletedBands> parse_record(std::string_view text);

/// A checksum of some written bytes.
struct Sample {
  std::string file;  ///< name in the checkpoint folder
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  std::int64_t reach = 0;  ///< minimum size of the file
  std::uint32_t checksum = 0;
  bool is_whole = false;  ///< `reach` is the exact size
};

std::optional<std::vector<Sample>> parse_samples(std::string_view text);
/// Whether the regular file at `path` contains the sample. False for a symbolic link.
bool has_sample(const std::filesystem::path& path, const Sample& sample);

/// The samples of the next record. Buffers at most about a thousand. Thread-safe.
class SampleCollector {
 public:
  /// Samples are written to the log that the function returns; null if none exists yet.
  explicit SampleCollector(std::function<CheckpointLog*()> log);

  /// Announces the size of the result.
  void expect(std::int64_t bytes) noexcept;
  /// Samples the beginning of bytes that were written to a file at `offset`. `file_bytes`: the size of a file
  /// that is complete.
  void add(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes,
           std::optional<std::int64_t> file_bytes = {});
  /// As add(), at regular distances in the file.
  void add_by_stride(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes);
  /// As add_by_stride(), for the result file. Each record gets at least one sample and the minimum size of
  /// the file.
  void add_stream(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes);
  /// Writes the buffered samples to the log.
  void write();

 private:
  void write_locked();

  std::function<CheckpointLog*()> log_;
  std::atomic<std::int64_t> stride_;
  std::atomic<bool> has_first_sample_ = false;
  std::mutex mutex_;
  std::vector<Sample> buffered_;
  Sample last_written_{};  // without sampled bytes
};

}  // namespace sepconv
