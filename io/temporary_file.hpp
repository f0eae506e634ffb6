// Temporary files next to their target: ".NAME.sepconv-XXXXXX". They are on the same file system, so that a
// rename completes them. Each is locked while its writer runs and marked until it is complete, which
// identifies leftovers of killed runs. Internal to io/.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sepconv {

struct TemporaryFile {
  std::filesystem::path name;
  int descriptor = -1;  ///< open for reading and writing, with lock and mark if the file system supports
                        ///< them; -1 with `error` on failure
  int error = 0;
};

/// Creates a temporary file for a target with this mode less the umask, and adds it to the unfinished paths.
TemporaryFile make_temporary_file(const std::filesystem::path& target, mode_t mode);

/// Draws a temporary name for a target; checks whether a name has that form.
std::filesystem::path temporary_name(const std::filesystem::path& target);
bool is_temporary_name(const std::string& name, const std::filesystem::path& target);
/// Whether acquiring a lock in this folder proves that no process on any machine holds it.
bool locks_are_reliable(const std::filesystem::path& folder);

/// Sets the permissions and group of a file to those of the file that it replaces. User, group and others
/// never get more permissions than before. Returns 0 or an errno.
int inherit_permissions(int descriptor, mode_t mode, gid_t group) noexcept;

/// Removes the mark of an incomplete file before its rename.
void mark_complete(int descriptor) noexcept;

/// Temporary files of runs that were killed.
struct Leftovers {
  std::vector<std::filesystem::path> names;
  std::int64_t bytes = 0;         ///< total size of `names`
  std::int64_t stored_bytes = 0;  ///< space that `names` occupy on the disk
  /// Files with such a name but without a mark: copies, or files on a file system without extended
  /// attributes. They are never removed.
  std::vector<std::filesystem::path> unmarked;
  std::int64_t unmarked_bytes = 0;

  /// Adds warnings for a run that will write the target.
  void add_warnings(const std::filesystem::path& target, std::vector<std::string>& warnings) const;
};

/// Finds the leftovers of this target that belong to this user and are not locked. Ignores files of other
/// users and file systems of several machines, where a lock may be valid on one of them only. Files without a
/// mark or with a second name are only listed as `unmarked`.
Leftovers find_leftovers(const std::filesystem::path& target);

/// Removes the leftovers that are still not locked.
void remove_leftovers(const Leftovers& leftovers) noexcept;

}  // namespace sepconv
