#include "io/fsync.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "io/file_errors.hpp"

namespace sepconv {

namespace fs = std::filesystem;

void begin_writing(int descriptor, std::int64_t offset, std::int64_t bytes) noexcept {
  constexpr std::int64_t kWritebackBytes = 1 << 20;  // merges small writes into one for the disk
  const std::int64_t begin = offset / kWritebackBytes * kWritebackBytes;
  const std::int64_t end = offset == 0 ? bytes : (offset + bytes) / kWritebackBytes * kWritebackBytes;
  if (end > begin) sync_file_range(descriptor, begin, end - begin, SYNC_FILE_RANGE_WRITE);
}

void sync_content(const fs::path& name) {
  const int descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  int error = descriptor < 0 || fstat(descriptor, &status) != 0 ? errno : 0;
  if (error == 0 && (S_ISDIR(status.st_mode) ? syncfs(descriptor) : fdatasync(descriptor)) != 0)
    error = errno;
  if (descriptor >= 0) close(descriptor);
  if (error != 0) throw_write_error(name, error);
}

void sync_names(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int error = descriptor < 0 || fsync(descriptor) != 0 ? errno : 0;
  if (descriptor >= 0) close(descriptor);
  if (error != 0) throw_write_error(folder, error);
}

int rename_noreplace(const fs::path& from, const fs::path& to) noexcept {
  if (renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS) return errno;
  struct stat status {};
  if (lstat(from.c_str(), &status) != 0) return errno;
  if (S_ISDIR(status.st_mode)) return rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  if (link(from.c_str(), to.c_str()) != 0) return errno;
  unlink(from.c_str());
  return 0;
}

}  // namespace sepconv
