#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/byte_file.hpp"
#include "io/file_errors.hpp"

namespace sepconv {
namespace {

constexpr const char* kNotRegularFile =
    "it is not a regular file, and pixels are read at offsets; save it to a file first";

/// Nanoseconds since 1970. Overflow wraps around, which still detects changes.
std::int64_t changed_at(const struct stat& status) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(status.st_mtim.tv_sec) * 1'000'000'000 +
                                   static_cast<std::uint64_t>(status.st_mtim.tv_nsec));
}

}  // namespace

InputFile::InputFile(const std::filesystem::path& path, Folders folders) : path_(path) {
  // O_NONBLOCK: does not wait for the writer of a pipe. The status is that of the opened file, even if the
  // name changes meanwhile.
  const auto try_open = [&] {
    descriptor_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    return descriptor_ >= 0;
  };
  while (!try_open() && errno == ENOTDIR && folders == Folders::taken && path_.has_relative_path()) {
    if (path_.has_filename()) inner_ = path_.filename().native() + (inner_.empty() ? "" : "/") + inner_;
    path_ = path_.parent_path();
  }
  if (descriptor_ < 0 && errno == ENXIO) throw_read_error(path, kNotRegularFile);
  if (descriptor_ < 0) throw_read_error(path, errno);
  try {
    read_status(folders);
  } catch (...) {
    close(descriptor_);
    throw;
  }
}

void InputFile::read_status(Folders folders) {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) throw_read_error(path_, errno);
  is_folder_ = S_ISDIR(status.st_mode);
  if (is_folder_ && folders == Folders::refused)
    throw_read_error(path_, "it is a folder; give the name of a file", EISDIR);
  if (!is_folder_ && !S_ISREG(status.st_mode)) throw_read_error(path_, kNotRegularFile);
  if (!is_folder_ && status.st_size == 0) throw_read_error(path_, "the file is empty; create it again");
  size_ = is_folder_ ? 0 : status.st_size;
  changed_ns_ = changed_at(status);
}

bool InputFile::has_changed() const {
  struct stat status {};
  if (fstat(descriptor_, &status) != 0) throw_read_error(path_, errno);
  return !is_folder_ && (status.st_size != size_ || changed_at(status) != changed_ns_);
}

InputFile::InputFile(InputFile&& other) noexcept
    : path_(std::move(other.path_)),
      size_(other.size_),
      changed_ns_(other.changed_ns_),
      descriptor_(std::exchange(other.descriptor_, -1)),
      is_folder_(other.is_folder_),
      inner_(std::move(other.inner_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(size_, other.size_);
  std::swap(changed_ns_, other.changed_ns_);
  std::swap(descriptor_, other.descriptor_);
  std::swap(is_folder_, other.is_folder_);
  std::swap(inner_, other.inner_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

void InputFile::read_at(std::int64_t offset, std::span<std::byte> bytes) const {
  const std::int64_t count = read_some_at(offset, bytes);
  if (count == static_cast<std::int64_t>(bytes.size())) return;
  throw_read_error(
      path_, fmt::format("the file ends at byte {} where {} more bytes are expected; it is truncated, copy "
                         "it again",
                         offset + count, static_cast<std::int64_t>(bytes.size()) - count));
}

std::int64_t InputFile::read_some_at(std::int64_t offset, std::span<std::byte> bytes) const {
  const std::int64_t count = read_fully(descriptor_, offset, bytes);
  if (count < 0) throw_read_error(path_, errno);
  return count;
}

}  // namespace sepconv
