// Shared libraries that are loaded by name on first use and never unloaded, because they keep threads.
// Private to kernels/gemm.
#pragma once

#include <string>
#include <vector>

namespace sepconv {

class BlasLibrary {
 public:
  /// Opens the file that the environment variable names as an absolute path; otherwise the first of `names`
  /// that the loader finds. The variable is ignored in a setuid program.
  BlasLibrary(const char* variable, const std::vector<const char*>& names);

  /// Returns null if there is no library or it has no such function.
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(find_symbol(name));
  }

  bool is_open() const noexcept { return handle_ != nullptr; }
  /// Why no library was opened.
  const std::string& failure() const noexcept { return failure_; }

 private:
  void* find_symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string failure_;
};

}  // namespace sepconv
