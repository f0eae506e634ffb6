// JSON that is not believed: bounded, and every value of the kind that is expected. Private to this folder.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace sepconv {

using Json = nlohmann::json;

/// A value with a name and settings, as codecs and grids of version 3 are.
struct NamedJson {
  std::string name;
  Json configuration;
};

/// For one file, for errors: "cannot read FILE: its ... ; ...".
class JsonFile {
 public:
  explicit JsonFile(std::filesystem::path name) : name_(std::move(name)) {}

  const std::filesystem::path& name() const noexcept { return name_; }
  /// An object, without a member of the root that is called `skipped`; `has_skipped`: there is one. Numbers
  /// that JSON has not (NaN, Infinity) and integers of more than 64 bits, which most of its readers round,
  /// become texts; those are named in `as_texts`. Throws IoError: damaged, or nested deeper than any metadata
  /// are.
  Json parse(const std::string& text, std::string_view skipped = {}, std::string* as_texts = nullptr,
             bool* has_skipped = nullptr) const;

  /// "its WHAT is damaged".
  [[noreturn]] void damaged(std::string_view what) const;
  /// "it has WHAT, which this library lacks".
  [[noreturn]] void lacking(const std::string& what) const;

  const Json& member(const Json& object, const char* key) const;
  std::string text(const Json& object, const char* key) const;
  std::string text(const Json& object, const char* key, const std::string& otherwise) const;
  std::int64_t integer(const Json& value, std::string_view what, std::int64_t least = 0,
                       std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  std::int64_t integer(const Json& object, const char* key, std::int64_t least, std::int64_t most,
                       std::int64_t otherwise) const;
  std::vector<std::int64_t> integers(const Json& object, const char* key, std::int64_t least) const;
  NamedJson named(const Json& value, std::string_view what) const;
  /// Throws where an object has other members.
  void check_members(const Json& object, std::initializer_list<std::string_view> known) const;

 private:
  std::filesystem::path name_;
};

}  // namespace sepconv
