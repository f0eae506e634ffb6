// Files under hidden names next to their target: ".NAME.sepconv-XXXXXX", on the same file system, so that a
// rename completes them. Each is locked for as long as its writer lives, and marked until it is complete, so
// that what a killed run left is known as such. Internal to io/.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sepconv {

struct TemporaryFile {
  std::filesystem::path name;
  int descriptor = -1;  ///< open for reading and writing, and locked and marked where the file system can; or
                        ///< -1 with `error`
  int error = 0;
};

/// Makes one for a target, with this mode less the umask, and adds it to the unfinished paths.
TemporaryFile make_temporary_file(const std::filesystem::path& target, mode_t mode);

/// A name for something of this target, and whether a name could be one.
std::filesystem::path temporary_name(const std::filesystem::path& target);
bool is_temporary_name(const std::string& name, const std::filesystem::path& target);
/// Whether a lock that can be had in this folder says that no process on any machine holds it.
bool locks_tell(const std::filesystem::path& folder);

/// Gives a file the rights of the one that it is to replace, whose user, group and others get no more than
/// they had. Returns 0 or an errno.
int inherit_rights(int descriptor, mode_t mode, gid_t group) noexcept;

/// Takes the mark of an unfinished file away, before it gets its name.
void mark_complete(int descriptor) noexcept;

/// Temporary files of runs that were killed.
struct Leftovers {
  std::vector<std::filesystem::path> names;
  std::int64_t bytes = 0;         ///< their sizes
  std::int64_t stored_bytes = 0;  ///< what they take of the file system
  /// Files that are only named so: a copy, or on a file system that keeps no mark. They are never removed.
  std::vector<std::filesystem::path> unproved;
  std::int64_t unproved_bytes = 0;

  /// Sentences for who is about to write the target.
  void add_warnings(const std::filesystem::path& target, std::vector<std::string>& warnings) const;
};

/// Those of this target that are this user's and that nobody holds. What cannot be told stays: another
/// user's, what has no mark or a second name, and all on file systems of several machines, where a lock may
/// hold on one of them only.
Leftovers find_leftovers(const std::filesystem::path& target);

/// Removes those of them that nobody holds now either.
void remove_leftovers(const Leftovers& leftovers) noexcept;

}  // namespace sepconv
