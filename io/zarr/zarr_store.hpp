// Where the objects of a Zarr hierarchy lie: in a folder, or in a zip file. Private to io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_file.hpp"

namespace sepconv {

/// What lies under a key, opened.
class ZarrObject {
 public:
  virtual ~ZarrObject() = default;
  virtual std::int64_t size() const noexcept = 0;
  /// Fills `bytes`, which lie inside, from `offset` on. Throws IoError.
  virtual void read_at(std::int64_t offset, std::span<std::byte> bytes) const = 0;
};

/// Thread-safe. Keys are names with '/' between them, "" the root; one that would lead out of the store is an
/// IoError.
class ZarrStore {
 public:
  virtual ~ZarrStore() = default;

  /// The folder or the file, for errors.
  virtual const std::filesystem::path& path() const noexcept = 0;
  /// Null where there is none.
  virtual std::unique_ptr<ZarrObject> open(const std::string& key) const = 0;
  /// Names of what lies below a key and has something below itself, sorted, at most this many.
  virtual std::vector<std::string> folders(const std::string& key, std::size_t most) const = 0;
  /// Names of the objects below a key, relative to it, this many folders deep, until `take` returns false.
  virtual void for_each_object(const std::string& key, std::size_t depth,
                               const std::function<bool(std::string_view name)>& take) const = 0;
  /// What it holds in memory.
  virtual std::int64_t memory_bytes() const noexcept { return 0; }
  virtual std::int64_t changed_ns() const noexcept = 0;
  /// As RasterSet::has_changed().
  virtual bool has_changed() const { return false; }

  /// The path of a key, for errors.
  std::filesystem::path name_of(const std::string& key) const { return key.empty() ? path() : path() / key; }
  /// All of a small object; nothing where there is none. Throws IoError for one of more than `most` bytes.
  std::optional<std::string> text(const std::string& key, std::int64_t most) const;
};

std::unique_ptr<ZarrStore> open_folder_store(InputFile folder);
/// Members that are stored or deflated. What is opened must not outlive the store. Throws IoError for a
/// damaged file.
std::unique_ptr<ZarrStore> open_zip_store(InputFile file);

/// "a/b"; "b" below the root, and "a" of what has no name.
std::string joined_key(const std::string& parent, const std::string& name);

}  // namespace sepconv
