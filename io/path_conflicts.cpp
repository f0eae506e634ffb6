#include "io/path_conflicts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "io/byte_file.hpp"
#include "io/file_errors.hpp"
#include "io/formats.hpp"
#include "io/zarr/staging_directory.hpp"

namespace sepconv {

namespace fs = std::filesystem;

namespace {

/// Resolves links of the existing part of the path; removes a slash at the end.
fs::path resolved(const fs::path& path) {
  std::error_code failed;
  const fs::path full = fs::absolute(without_slash(path), failed);
  const fs::path real = fs::weakly_canonical(full, failed);
  return failed ? full.lexically_normal() : real;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  const fs::path inner = resolved(path), outer = resolved(folder);
  return std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

/// The outermost Zarr group that contains a path; the path itself if there is none.
fs::path outermost_zarr(const fs::path& path) {
  fs::path whole = resolved(path);
  while (whole.has_relative_path() && has_zarr_metadata(whole.parent_path())) whole = whole.parent_path();
  return whole;
}

}  // namespace

bool is_of(const fs::path& file, const fs::path& used) {
  return is_same_name(file, used) || is_inside(used, file) || is_inside(file, outermost_zarr(used));
}

std::vector<fs::path> containing_folders(const fs::path& output) {
  std::vector<fs::path> folders;
  std::error_code unknown;
  if (!fs::exists(fs::symlink_status(output, unknown))) return folders;
  for (fs::path above = resolved(output).parent_path();
       above.has_relative_path() && above.filename() != "labels"; above = above.parent_path())
    folders.push_back(above);
  return folders;
}

bool is_same_name(const fs::path& a, const fs::path& b) {
  std::error_code error;  // a missing path is normal, not an error
  if (fs::equivalent(a, b, error)) return true;
  return resolved(a) == resolved(b);
}

void check_not_read(const fs::path& output, const PathsInUse& read) {
  const std::vector<fs::path> containers = containing_folders(output);
  for (const auto& [path, what] : read) {
    if (is_same_name(path, output))
      throw InvalidArgument(fmt::format("{} is both input and output, {}; give the result another name",
                                        output.string(), what));
    if (is_inside(path, output))
      throw InvalidArgument(fmt::format("{} is a folder that {}, {}, lies in; give the result another name",
                                        output.string(), path.string(), what));
    if (std::ranges::find(containers, resolved(path)) != containers.end())
      throw InvalidArgument(fmt::format("{} is a part of {}, {}; give the result another name",
                                        output.string(), path.string(), what));
  }
}

void check_writable(const fs::path& output, bool overwrite) {
  const Format* const format = format_of_name(output);
  if (format != nullptr && format->is_folder)
    StagingDirectory(output, {.overwrite = overwrite});
  else
    OutputFile(output, {.overwrite = overwrite});
}

}  // namespace sepconv
