#include "io/zarr/stale_temporaries.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "io/file_errors.hpp"
#include "io/temporary_file.hpp"
#include "io/zarr/staging_directory.hpp"

namespace sepconv {

namespace fs = std::filesystem;

namespace {

/// Calls `visit(is_marked)` while it holds the lock if a killed process left the folder: it belongs to this
/// user, is not locked, and is marked or empty. Another process may just have created an empty one; that
/// process then creates another.
template <class Visit>
void if_dead_folder(const fs::path& folder, const Visit& visit) {
  struct stat status {};
  std::error_code unknown;
  const int lock = open_folder(folder);
  if (lock < 0) return;
  if (flock(lock, LOCK_EX | LOCK_NB) == 0 && fstat(lock, &status) == 0 && status.st_uid == geteuid()) {
    const bool is_marked = faccessat(lock, kUnfinishedMark, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
    if (is_marked || fs::is_empty(folder, unknown)) visit(is_marked);
  }
  close(lock);
}

/// Removes all entries except `excluded`. Returns false if the deadline passed first.
bool remove_below(const fs::path& folder, const fs::path& excluded,
                  std::chrono::steady_clock::time_point deadline) noexcept {
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    std::error_code unknown;
    if (std::chrono::steady_clock::now() > deadline) return false;
    if (entry->path() == excluded) continue;
    if (!fs::is_directory(entry->symlink_status(unknown))) {
      unlink(entry->path().c_str());
    } else if (remove_below(entry->path(), excluded, deadline)) {
      rmdir(entry->path().c_str());
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

int open_folder(const fs::path& folder) noexcept {
  return open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

std::vector<fs::path> find_dead_folders(const fs::path& target) {
  std::vector<fs::path> found;
  std::error_code failed;
  const fs::path folder = folder_of(target);
  if (!locks_are_reliable(folder)) return found;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed)) {
    const fs::path& path = entry->path();
    if (is_temporary_name(path.filename().native(), target))
      if_dead_folder(path, [&](bool) { found.push_back(path); });
  }
  std::ranges::sort(found);
  return found;
}

void remove_marked_folder(const fs::path& folder, std::chrono::steady_clock::time_point deadline) noexcept {
  const fs::path mark = folder / kUnfinishedMark;
  if (!remove_below(folder, mark, deadline)) return;
  unlink(mark.c_str());
  rmdir(folder.c_str());
}

void remove_dead_folder(const fs::path& folder) noexcept {
  if_dead_folder(folder, [&](bool is_marked) {
    if (is_marked)
      remove_marked_folder(folder);
    else
      rmdir(folder.c_str());  // fails if another process has just added a file
  });
}

}  // namespace sepconv
