#include "sepconv/io/taken_files.hpp"

#include <fmt/format.h>

#include "sepconv/core/error.hpp"
#include "sepconv/io/byte_file.hpp"

namespace sepconv {

namespace fs = std::filesystem;

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
    if (!is_same_name(path, output)) continue;
    throw InvalidArgument(
        fmt::format("{} is both input and output, {}; give the result another name", output.string(), what));
  }
}

void check_can_be_made(const fs::path& output, bool overwrite) {
  OutputFile(output, {.overwrite = overwrite});
}

}  // namespace sepconv
