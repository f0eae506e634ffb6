#include "io/checkpoint/records.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/geometry.hpp"
#include "io/byte_file.hpp"
#include "io/checkpoint/log.hpp"
#include "io/crc32c.hpp"
#include "io/foreign_json.hpp"
#include "io/json_text.hpp"

namespace sepconv {
namespace {

using nlohmann::json;

/// Size of a sample, minimum distance of samples, and maximum number of samples at regular distances.
constexpr std::int64_t kSampleBytes = 4096;
constexpr std::int64_t kMinStride = std::int64_t{1} << 20;
constexpr std::int64_t kSamples = 16384;
/// Samples are buffered, as each of many files may have one.
constexpr std::size_t kMaxBuffered = 1024;

json state_json(const WriterState& state) {
  json levels = json::array();
  for (const WriterState& level : state.levels) levels.push_back(state_json(level));
  return {{"places", state.block_positions}, {"levels", std::move(levels)}};
}

WriterState state_in(const json& document) {
  WriterState state;
  document.at("places").get_to(state.block_positions);
  for (const json& level : document.at("levels")) state.levels.push_back(state_in(level));
  return state;
}

/// A file name without folders.
std::string plain_name(const json& name) {
  const std::filesystem::path path = name.get<std::string>();
  if (path != path.filename()) throw json::other_error::create(0, "no name", nullptr);
  return path;
}

/// Parses a line of JSON; null if the line does not have the expected content.
template <class Parse>
auto try_parse(std::string_view text, const Parse& parse) -> std::optional<decltype(parse(json()))> try {
  std::string problem;
  const json document = parse_foreign(text, problem);
  if (!problem.empty()) return std::nullopt;
  return parse(document);
} catch (const json::exception&) {
  return std::nullopt;
}

std::string samples_text(const std::vector<Sample>& samples) {
  json document = json::array();
  for (const Sample& sample : samples)
    document.push_back(
        {sample.file, sample.offset, sample.bytes, sample.reach, sample.checksum, sample.is_whole});
  return json_line(document);
}

}  // namespace

std::string record_text(const CompletedBands& record) {
  return json_line(json{{"raster", record.raster},
                        {"bands", record.bands},
                        {"pixels", record.pixels},
                        {"state", state_json(record.state)},
                        {"segment", record.files.segment.native()},
                        {"rows", record.files.rows.native()}});
}

std::optional<CompletedBands> parse_record(std::string_view text) {
  return try_parse(text, [](const json& document) {
    CompletedBands record;
    document.at("raster").get_to(record.raster);
    document.at("bands").get_to(record.bands);
    document.at("pixels").get_to(record.pixels);
    record.state = state_in(document.at("state"));
    record.files = {plain_name(document.at("segment")), plain_name(document.at("rows"))};
    return record;
  });
}

std::optional<std::vector<Sample>> parse_samples(std::string_view text) {
  return try_parse(text, [](const json& document) {
    std::vector<Sample> samples;
    for (const json& sample : document)
      samples.push_back({sample.at(0).get<std::string>(), sample.at(1).get<std::int64_t>(),
                         sample.at(2).get<std::int64_t>(), sample.at(3).get<std::int64_t>(),
                         sample.at(4).get<std::uint32_t>(), sample.at(5).get<bool>()});
    return samples;
  });
}

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

SampleCollector::SampleCollector(std::function<CheckpointLog*()> log)
    : log_(std::move(log)), stride_(kMinStride) {}

void SampleCollector::expect(std::int64_t bytes) noexcept {
  stride_ = std::max(kMinStride, round_up(bytes / kSamples, kSampleBytes));
}

void SampleCollector::add(const std::string& file, std::int64_t offset, std::span<const std::byte> bytes,
                          std::optional<std::int64_t> file_bytes) {
  if (bytes.empty() && !file_bytes) return;
  const auto sampled = bytes.first(std::min(bytes.size(), static_cast<std::size_t>(kSampleBytes)));
  Sample sample{file,
                offset,
                std::ssize(sampled),
                file_bytes.value_or(offset + std::ssize(bytes)),
                crc32c(sampled),
                file_bytes.has_value()};
  const std::scoped_lock lock(mutex_);
  buffered_.push_back(std::move(sample));
  if (buffered_.size() >= kMaxBuffered) write_locked();
}

void SampleCollector::add_by_stride(const std::string& file, std::int64_t offset,
                                    std::span<const std::byte> bytes) {
  const std::int64_t stride = stride_, end = offset + std::ssize(bytes);
  for (std::int64_t at = round_up(offset, stride); at < end; at += stride)
    add(file, at, bytes.subspan(static_cast<std::size_t>(at - offset)));
}

void SampleCollector::add_stream(const std::string& file, std::int64_t offset,
                                 std::span<const std::byte> bytes) {
  if (!bytes.empty() && !has_first_sample_.exchange(true)) add(file, offset, bytes);
  add_by_stride(file, offset, bytes);
  const std::int64_t end = offset + std::ssize(bytes);
  const std::scoped_lock lock(mutex_);
  if (end > last_written_.reach) last_written_ = {file, 0, 0, end, crc32c({}), false};
}

void SampleCollector::write() {
  const std::scoped_lock lock(mutex_);
  if (last_written_.reach > 0) buffered_.push_back(std::exchange(last_written_, {}));
  write_locked();
  has_first_sample_ = false;
}

void SampleCollector::write_locked() {
  CheckpointLog* const log = buffered_.empty() ? nullptr : log_();
  if (log == nullptr) return;
  log->add_samples(samples_text(buffered_));
  buffered_.clear();
}

}  // namespace sepconv
