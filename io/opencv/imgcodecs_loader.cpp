#include "sepconv/io/opencv/imgcodecs_loader.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <vector>

#include "sepconv/core/error.hpp"

namespace sepconv {
namespace {

namespace fs = std::filesystem;

constexpr const char* kModuleName = "sepconv_imgcodecs.so";

/// The folders of the program and of the library that this function is in (the same when linked statically).
std::vector<fs::path> own_folders() {
  std::vector<fs::path> folders;
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (!program.empty()) folders.push_back(program.parent_path());
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&own_folders), &info) != 0 && info.dli_fname != nullptr) {
    const fs::path library = fs::canonical(info.dli_fname, ignored);
    if (!library.empty() && library.parent_path() != program.parent_path())
      folders.push_back(library.parent_path());
  }
  return folders;
}

std::vector<fs::path> module_folders() {
  std::vector<fs::path> folders;
  if (const char* const named = std::getenv("SEPCONV_MODULES"); named != nullptr && *named != '\0')
    folders.emplace_back(named);
  for (const fs::path& own : own_folders()) {
    folders.push_back(own / "../lib/sepconv");  // beside bin/, also in the build tree
    folders.push_back(own / ".." / SEPCONV_LIBDIR / "sepconv");
    folders.push_back(own / "sepconv");  // beside a shared library
  }
  folders.emplace_back(SEPCONV_INSTALLED_MODULES);
  return folders;
}

/// Never unloaded: OpenCV's libraries leave threads and handlers behind. Loading twice gives the same module.
const sepconv_imgcodecs* try_load(const fs::path& module, std::string& fact) {
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
  std::string fact;
  for (const fs::path& folder : module_folders()) {
    std::error_code ignored;
    const fs::path module = folder / kModuleName;
    if (!fs::exists(module, ignored)) continue;
    if (const sepconv_imgcodecs* const functions = try_load(module, fact)) return *functions;
  }
  if (fact.empty()) fact = fmt::format("{} was not found", kModuleName);
  throw IoError(fmt::format(
      "{} needs the module for PNG, JPEG, PNM and BMP, and {}; build sepconv with SEPCONV_OPENCV=ON and "
      "libopencv-imgcodecs-dev, or name the module's folder in SEPCONV_MODULES",
      path.native(), fact));
}

}  // namespace sepconv
