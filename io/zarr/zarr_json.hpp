// Validated parsing of untrusted JSON: bounded, and with checks of every value's type. Private to this
// folder.
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

/// A value with a name and a configuration, such as a codec or grid of version 3.
struct NamedJson {
  std::string name;
  Json configuration;
};

/// Parses the JSON of one file. Errors name it: "cannot read FILE: its ... ; ...".
class JsonFile {
 public:
  explicit JsonFile(std::filesystem::path name) : name_(std::move(name)) {}

  const std::filesystem::path& name() const noexcept { return name_; }
  /// Parses an object, without the member `skipped` of the root; `has_skipped`: whether it exists. Numbers
  /// that JSON does not support (NaN, Infinity) and integers of more than 64 bits, which most readers round,
  /// become strings, which are listed in `quoted_numbers`. Throws IoError for damaged or too deeply nested
  /// JSON.
  Json parse(const std::string& text, std::string_view skipped = {}, std::string* quoted_numbers = nullptr,
             bool* has_skipped = nullptr) const;

  /// Throws IoError: "its WHAT is missing or damaged".
  [[noreturn]] void throw_damaged(std::string_view subject) const;
  /// Throws IoError: "it has WHAT, which is not read here".
  [[noreturn]] void throw_unsupported(const std::string& subject) const;

  // The following functions throw IoError unless the value has the type and is in the range.
  const Json& member(const Json& object, const char* key) const;
  std::string text(const Json& object, const char* key) const;
  std::string text(const Json& object, const char* key, const std::string& default_value) const;
  std::int64_t integer(const Json& value, std::string_view subject, std::int64_t min = 0,
                       std::int64_t max = std::numeric_limits<std::int64_t>::max()) const;
  std::int64_t integer(const Json& object, const char* key, std::int64_t min, std::int64_t max,
                       std::int64_t default_value) const;
  std::vector<std::int64_t> integers(const Json& object, const char* key, std::int64_t min) const;
  NamedJson named(const Json& value, std::string_view subject) const;
  /// Throws if an object has members other than `known`, unless they are marked as optional.
  void check_members(const Json& object, std::initializer_list<std::string_view> known) const;

 private:
  std::filesystem::path name_;
};

}  // namespace sepconv
