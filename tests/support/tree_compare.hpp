// Reads a file or a folder tree, for comparing results.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace sepconv::test {

/// The content of all files, by relative path.
inline std::map<std::string, std::string> read_tree(const std::filesystem::path& path) {
  std::map<std::string, std::string> files;
  const auto add = [&](const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    files[file.lexically_relative(path)] = std::string(std::istreambuf_iterator<char>(stream), {});
  };
  if (!std::filesystem::is_directory(path)) return add(path), files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
    if (entry.is_regular_file()) add(entry.path());
  return files;
}

}  // namespace sepconv::test
