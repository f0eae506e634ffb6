// Keys that stay inside a store or group.
#pragma once

#include <string_view>

namespace sepconv {

/// Whether a key is a relative path without empty, "." or ".." components and without NUL.
inline bool is_safe_relative_path(std::string_view key) noexcept {
  if (key.find('\0') != key.npos) return false;
  while (true) {
    const std::string_view name = key.substr(0, key.find('/'));
    if (name.empty() || name == "." || name == "..") return false;
    if (name.size() == key.size()) return true;
    key.remove_prefix(name.size() + 1);
  }
}

}  // namespace sepconv
