// Stores of a Zarr hierarchy: a folder or a zip file. Private to io.
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

/// An open object of a store.
class ZarrObject {
 public:
  virtual ~ZarrObject() = default;
  virtual std::int64_t size() const noexcept = 0;
  /// Reads `bytes.size()` bytes at `offset`; they must be inside the object. Throws IoError.
  virtual void read_at(std::int64_t offset, std::span<std::byte> bytes) const = 0;
};

/// A store of objects by keys. Keys are names separated by '/'; "" is the root. A key that leads out of the
/// store throws IoError. Thread-safe.
class ZarrStore {
 public:
  virtual ~ZarrStore() = default;

  /// The folder or the zip file, for error messages.
  virtual const std::filesystem::path& path() const noexcept = 0;
  /// Opens an object; null if it does not exist.
  virtual std::unique_ptr<ZarrObject> open(const std::string& key) const = 0;
  /// Sorted names of the folders below a key, at most `max_names`.
  virtual std::vector<std::string> folders(const std::string& key, std::size_t max_names) const = 0;
  /// Calls `visit` with the names of the objects below a key, relative to it, up to `depth` folders deep,
  /// until it returns false.
  virtual void for_each_object(const std::string& key, std::size_t depth,
                               const std::function<bool(std::string_view name)>& visit) const = 0;
  /// The memory of the store, in bytes.
  virtual std::int64_t memory_bytes() const noexcept { return 0; }
  virtual std::int64_t changed_ns() const noexcept = 0;
  /// As RasterSet::has_changed().
  virtual bool has_changed() const { return false; }

  /// The path of a key, for error messages.
  std::filesystem::path name_of(const std::string& key) const { return key.empty() ? path() : path() / key; }
  /// The contents of a small object; null if it does not exist. Throws IoError if it has more than max_bytes.
  std::optional<std::string> text(const std::string& key, std::int64_t max_bytes) const;
};

std::unique_ptr<ZarrStore> open_folder_store(InputFile folder);
/// Opens a zip file whose members are stored or deflated. Objects must not outlive the store. Throws IoError
/// for a damaged file.
std::unique_ptr<ZarrStore> open_zip_store(InputFile file);

/// Joins a key and a name: "a/b"; "b" if the parent is the root, "a" if the name is empty.
std::string joined_key(const std::string& parent, const std::string& name);

}  // namespace sepconv
