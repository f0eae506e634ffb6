// A file that buffers rows of incomplete blocks. Internal to io/.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <utility>

#include "io/file_errors.hpp"

namespace sepconv {

/// An append-only file of rows, which is not removed.
class RowSpillFile {
 public:
  explicit RowSpillFile(std::filesystem::path path) : path_(std::move(path)) {
    // O_NONBLOCK: a pipe with this name would block.
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    struct stat status {};
    if (descriptor_ < 0 || fstat(descriptor_, &status) != 0) throw_write_error(path_, errno);
    if (!S_ISREG(status.st_mode))
      throw_write_error(path_, "it is not a regular file; discard the partial result");
    end_ = status.st_size;
  }
  RowSpillFile(const RowSpillFile&) = delete;
  RowSpillFile& operator=(const RowSpillFile&) = delete;
  ~RowSpillFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }

  /// Appends rows; returns their offset.
  std::int64_t add(std::span<const std::byte> rows) {
    const std::int64_t begin = end_;
    if (const int failed = write_fully(descriptor_, begin, rows); failed != 0)
      throw_write_error(path_, failed);
    end_ += std::ssize(rows);
    return begin;
  }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  std::int64_t end_ = 0;
};

}  // namespace sepconv
