#include "kernels/gemm/blas_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>

namespace sepconv {

BlasLibrary::BlasLibrary(const char* variable, const std::vector<const char*>& names) {
  std::vector<const char*> tried = names;
  if (const char* const from_environment = secure_getenv(variable);
      from_environment != nullptr && *from_environment != '\0') {
    if (*from_environment != '/') {
      failure_ = fmt::format("{} is {}, which is relative to the current folder", variable, from_environment);
      return;
    }
    tried = {from_environment};
  }
  for (const char* const name : tried) {
    handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle_ != nullptr) return;
    // The error of the first name is reported: later names are older versions or have no version.
    if (failure_.empty()) failure_ = dlerror();
  }
}

void* BlasLibrary::find_symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace sepconv
