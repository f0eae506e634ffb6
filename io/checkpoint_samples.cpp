#include "io/checkpoint_samples.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/geometry.hpp"
#include "io/byte_file.hpp"
#include "io/checkpoint_log.hpp"
#include "io/checkpoint_record.hpp"
#include "io/crc32c.hpp"

namespace sepconv {
namespace {

/// Size of a sample, minimum distance of samples, and maximum number of samples at regular distances.
constexpr std::int64_t kSampleBytes = 4096;
constexpr std::int64_t kMinStride = std::int64_t{1} << 20;
constexpr std::int64_t kSamples = 16384;
/// Samples are buffered, as each of many files may have one.
constexpr std::size_t kMaxBuffered = 1024;

Sample sample_of(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes) {
  const auto sampled = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(kSampleBytes)));
  return {file, offset, std::ssize(sampled), offset + std::ssize(bytes), crc32c(sampled), false};
}

}  // namespace

bool has_sample(const std::filesystem::path& path, const Sample& sample) {
  std::error_code missing;
  if (sample.bytes < 0 || sample.bytes > kSampleBytes || sample.offset < 0) return false;
  if (!std::filesystem::is_regular_file(std::filesystem::symlink_status(path, missing))) return false;
  const std::uintmax_t size = std::filesystem::file_size(path, missing);
  if (missing || size == 0 || std::cmp_less(size, sample.reach)) return false;
  if (sample.is_whole && std::cmp_greater(size, sample.reach)) return false;
  std::vector<std::byte> bytes(static_cast<std::size_t>(sample.bytes));
  const InputFile file(path);
  return file.read_some_at(sample.offset, bytes) == sample.bytes && crc32c(bytes) == sample.checksum;
}

PartialSamples::PartialSamples(std::function<CheckpointLog*()> journal)
    : journal_(std::move(journal)), stride_(kMinStride) {}

void PartialSamples::expect(std::int64_t bytes) noexcept {
  stride_ = std::max(kMinStride, round_up(bytes / kSamples, kSampleBytes));
}

void PartialSamples::add(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes) {
  if (bytes.empty()) return;
  Sample sample = sample_of(file, offset, bytes);
  const std::scoped_lock lock(mutex_);
  add_locked(std::move(sample));
}

void PartialSamples::add_whole(const std::string& file, std::int64_t file_bytes,
                               std::span<const std::byte> bytes) {
  Sample sample = sample_of(file, 0, bytes);
  sample.reach = file_bytes;
  sample.is_whole = true;
  const std::scoped_lock lock(mutex_);
  add_locked(std::move(sample));
}

void PartialSamples::add_by_stride(const std::string& file, std::int64_t offset,
                                   std::span<const std::byte> bytes) {
  const std::int64_t stride = stride_, end = offset + std::ssize(bytes);
  for (std::int64_t at = round_up(offset, stride); at < end; at += stride)
    add(file, at, bytes.subspan(static_cast<std::size_t>(at - offset)));
}

void PartialSamples::add_stream(const std::string& file, std::int64_t offset,
                                std::span<const std::byte> bytes) {
  if (!bytes.empty() && !has_first_sample_.exchange(true)) add(file, offset, bytes);
  add_by_stride(file, offset, bytes);
  const std::int64_t end = offset + std::ssize(bytes);
  const std::scoped_lock lock(mutex_);
  if (end > last_written_.reach) last_written_ = {file, 0, 0, end, crc32c({}), false};
}

void PartialSamples::record() {
  const std::scoped_lock lock(mutex_);
  if (last_written_.reach > 0) buffered_.push_back(std::exchange(last_written_, {}));
  write();
  has_first_sample_ = false;
}

void PartialSamples::add_locked(Sample sample) {
  buffered_.push_back(std::move(sample));
  if (buffered_.size() >= kMaxBuffered) write();
}

void PartialSamples::write() {
  CheckpointLog* const journal = buffered_.empty() ? nullptr : journal_();
  if (journal == nullptr) return;
  journal->add_samples(samples_text(buffered_));
  buffered_.clear();
}

}  // namespace sepconv
