#include "sepconv/io/opencv/imgcodecs_loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "sepconv/core/error.hpp"
#include "sepconv/core/openblas_limits.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModuleName = "sepconv_imgcodecs.so";
constexpr const char* kProgram = "/proc/self/exe";

/// The folders of the program and of the library that this function is in (the same when linked statically).
std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  std::error_code ignored;
  const fs::path program = fs::read_symlink(kProgram, ignored);
  if (!program.empty()) folders.push_back(program.parent_path());
  Dl_info info{};
  // A program is known by the name that it was started with, which says nothing of where it lies.
  if (dladdr(reinterpret_cast<const void*>(&own_folders), &info) != 0 && info.dli_fname != nullptr &&
      *info.dli_fname == '/') {
    const fs::path library = fs::canonical(info.dli_fname, ignored);
    if (!library.empty() && library.parent_path() != program.parent_path())
      folders.push_back(library.parent_path());
  }
  return folders;
}

std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  if (const char* const named = secure_getenv("SEPCONV_MODULES"); named != nullptr && *named != '\0') {
    if (*named != '/') {
      throw IoError(fmt::format("SEPCONV_MODULES is {}, which is relative to the current folder; give the whole path, "
                                "from / on, or unset it", named));
    }
    folders.emplace_back(named);
  }
  for (const fs::path& own : own_folders()) {
    folders.push_back(own / "../lib/sepconv");  // beside bin/, also in the build tree
    folders.push_back(own / ".." / SEPCONV_LIBDIR / "sepconv");
    folders.push_back(own / "sepconv");  // beside a shared library
  }
  folders.emplace_back(SEPCONV_INSTALLED_MODULES);
  return folders;
}

/// Whether its owner could as well have replaced the program.
bool is_trusted(uid_t owner) {
  struct stat program {};
  return owner == 0 || owner == geteuid() || (stat(kProgram, &program) == 0 && owner == program.st_uid);
}

/// Why code must not be loaded from there: somebody else could have put it there. Empty if nobody could.
std::string distrust(const fs::path& module) {
  std::error_code failed;
  const fs::path file = fs::canonical(module, failed);
  if (failed) return fmt::format("{} cannot be looked at: {}", module.native(), failed.message());
  for (const fs::path& part : {file, file.parent_path(), module.parent_path()}) {
    struct stat status {};
    if (stat(part.c_str(), &status) != 0 || !is_trusted(status.st_uid)) {
      return fmt::format("{} belongs neither to you, to root nor to the owner of the program", part.native());
    }
    if ((status.st_mode & S_IWOTH) != 0) return fmt::format("everybody may write to {}", part.native());
  }
  return "";
}

/// The libraries behind the module bring OpenBLAS along, which would never let the process end where its threads find no memory.
void check_room(const fs::path& path) {
  constexpr std::int64_t kLibraryBytes = std::int64_t{512} << 20;
  const int threads = openblas_threads_at_load();
  if (threads == 1 || free_address_bytes() >= openblas_address_bytes(threads - 1) + kLibraryBytes) return;
  throw IoError(fmt::format("{} needs OpenCV, whose {} threads take more address space than this process may have; raise the limit (ulimit -v) or set "
                            "OPENBLAS_NUM_THREADS to 1",
                            path.native(), threads));
}

/// Never unloaded: OpenCV's libraries leave threads and handlers behind. Loading twice gives the same module.
const sepconv_imgcodecs* try_load(const fs::path& module, std::string& fact) {
  fact = distrust(module);
  if (!fact.empty()) return nullptr;
  void* const library = dlopen(module.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    fact = dlerror();
    return nullptr;
  }
  const auto getter = reinterpret_cast<sepconv_imgcodecs_getter>(dlsym(library, SEPCONV_IMGCODECS_SYMBOL));
  const sepconv_imgcodecs* const functions = getter == nullptr ? nullptr : getter();
  if (functions != nullptr && functions->abi_version == SEPCONV_IMGCODECS_ABI) return functions;
  fact = fmt::format("{} is of another version of sepconv", module.native());
  return nullptr;
}

}  // namespace

const sepconv_imgcodecs& load_imgcodecs(const fs::path& path) {
  check_room(path);
  std::string fact;
  for (const fs::path& folder : module_folders()) {
    std::error_code ignored;
    const fs::path module = folder / kModuleName;
    if (!fs::exists(module, ignored)) continue;
    if (const sepconv_imgcodecs* const functions = try_load(module, fact)) return *functions;
  }
  if (fact.empty()) fact = fmt::format("{} was not found", kModuleName);
  throw IoError(fmt::format(
      "{} needs the module for BMP, and {}; build sepconv with SEPCONV_OPENCV=ON and "
      "libopencv-imgcodecs-dev, name the module's folder in SEPCONV_MODULES, or convert it to PNG",
      path.native(), fact));
}

}  // namespace sepconv
