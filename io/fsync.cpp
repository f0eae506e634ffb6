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
  constexpr std::int64_t kPiece = 1 << 20;  // so that what follows in small ones is one for the disk
  const std::int64_t begin = offset / kPiece * kPiece;
  const std::int64_t end = offset == 0 ? bytes : (offset + bytes) / kPiece * kPiece;
  if (end > begin) sync_file_range(descriptor, begin, end - begin, SYNC_FILE_RANGE_WRITE);
}

void sync_content(const fs::path& name) {
  const int opened = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat status {};
  int failed = opened < 0 || fstat(opened, &status) != 0 ? errno : 0;
  if (failed == 0 && (S_ISDIR(status.st_mode) ? syncfs(opened) : fdatasync(opened)) != 0) failed = errno;
  if (opened >= 0) close(opened);
  if (failed != 0) throw_write_error(name, failed);
}

void sync_names(const fs::path& folder) {
  const int opened = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  const int failed = opened < 0 || fsync(opened) != 0 ? errno : 0;
  if (opened >= 0) close(opened);
  if (failed != 0) throw_write_error(folder, failed);
}

int rename_to_absent(const fs::path& from, const fs::path& to) noexcept {
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
