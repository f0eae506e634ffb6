// Shared libraries that are looked for by name when they are first needed, and never unloaded: they keep
// threads. Private to kernels/gemm.
#pragma once

#include <string>
#include <vector>

namespace sepconv {

class BlasLibrary {
 public:
  /// Opens the file that the environment variable names, from / on, else the first of `names` that the loader
  /// finds. The variable is not heeded in a setuid program.
  BlasLibrary(const char* variable, const std::vector<const char*>& names);

  /// Null where there is no library or no such function in it.
  template <class Function>
  Function* find(const char* name) const {
    return reinterpret_cast<Function*>(find_symbol(name));
  }

  bool is_open() const noexcept { return handle_ != nullptr; }
  /// Why there is none.
  const std::string& failure() const noexcept { return failure_; }

 private:
  void* find_symbol(const char* name) const;

  void* handle_ = nullptr;
  std::string failure_;
};

}  // namespace sepconv
