#include "io/fingerprint.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <span>
#include <vector>

#include "io/byte_file.hpp"
#include "io/checkpoint/folder.hpp"
#include "io/crc32c.hpp"
#include "io/file_errors.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kEndBytes = std::int64_t{64} << 10;
constexpr std::int64_t kMiddleSampleBytes = 4096;
constexpr std::int64_t kMiddleSamples = 64;

std::uint32_t text_checksum(std::string_view text) { return crc32c(std::as_bytes(std::span(text))); }

std::string file_fingerprint(const InputFile& file) {
  std::string checksums;
  std::vector<std::byte> bytes(static_cast<std::size_t>(kEndBytes));
  const auto add = [&](std::int64_t offset, std::int64_t count) {
    const auto read = file.read_some_at(offset, std::span(bytes).first(static_cast<std::size_t>(count)));
    checksums += fmt::format("{:08x}", crc32c(std::span(bytes).first(static_cast<std::size_t>(read))));
  };
  add(0, kEndBytes);
  add(std::max<std::int64_t>(0, file.size() - kEndBytes), kEndBytes);
  for (std::int64_t i = 1; i <= kMiddleSamples; ++i)
    add(file.size() / (kMiddleSamples + 1) * i, kMiddleSampleBytes);
  return fmt::format("{} bytes, changed {}, {:08x}", file.size(), file.changed_ns(),
                     text_checksum(checksums));
}

/// Independent of the order in which the file system lists the files. Incomplete results are ignored, as the
/// result of this job may be in the folder.
std::string folder_fingerprint(const fs::path& folder) {
  std::uint64_t sum = 0, files = 0;
  std::error_code failed;
  fs::recursive_directory_iterator entry(folder, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    const fs::path& path = entry->path();
    struct stat status {};
    if (stat(path.c_str(), &status) != 0) continue;
    if (S_ISDIR(status.st_mode) && is_incomplete_output(path)) entry.disable_recursion_pending();
    if (!S_ISREG(status.st_mode)) continue;
    const std::string text = fmt::format("{} {} {} {}", path.lexically_relative(folder).native(),
                                         status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    sum += std::uint64_t{text_checksum(text)} * 0x9E3779B97F4A7C15u ^ text_checksum(text + "+");
    ++files;
  }
  if (failed) throw_read_error(folder, failed.value());
  return fmt::format("{} files, {:016x}", files, sum);
}

}  // namespace

std::string fingerprint(const fs::path& path) {
  const InputFile file(path, InputFile::Folders::taken);
  return file.is_folder() ? folder_fingerprint(file.path()) : file_fingerprint(file);
}

}  // namespace sepconv
