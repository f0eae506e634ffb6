#include "sepconv/io/taken_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sepconv/core/error.hpp"
#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/formats.hpp"
#include "sepconv/io/zarr/unfinished_folder.hpp"

namespace sepconv {

namespace fs = std::filesystem;

namespace {

bool is_inside(const fs::path& path, const fs::path& folder) {
  std::error_code failed;
  const fs::path inner = fs::weakly_canonical(path, failed);
  const fs::path outer = fs::weakly_canonical(folder.has_filename() ? folder : folder.parent_path(), failed);
  return !failed &&
         std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

}  // namespace

bool is_same_name(const fs::path& a, const fs::path& b) {
  std::error_code error;  // one of them missing is the usual case, not an error
  if (fs::equivalent(a, b, error)) return true;
  const auto resolved = [](const fs::path& path) {
    std::error_code failed;
    const fs::path full = fs::absolute(path, failed);
    const fs::path real = fs::weakly_canonical(full, failed);
    return failed ? full.lexically_normal() : real;
  };
  return resolved(a) == resolved(b);
}

void check_not_read(const fs::path& output, const TakenFiles& read) {
  for (const auto& [path, what] : read) {
    if (is_same_name(path, output))
      throw InvalidArgument(fmt::format("{} is both input and output, {}; give the result another name",
                                        output.string(), what));
    if (is_inside(path, output))
      throw InvalidArgument(fmt::format("{} is a folder that {}, {}, lies in; give the result another name",
                                        output.string(), path.string(), what));
  }
}

void check_can_be_made(const fs::path& output, bool overwrite) {
  const Format* const format = format_of_name(output);
  if (format != nullptr && format->is_folder)
    UnfinishedFolder(output, {.overwrite = overwrite});
  else
    OutputFile(output, {.overwrite = overwrite});
}

}  // namespace sepconv
