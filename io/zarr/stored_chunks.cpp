#include "io/zarr/stored_chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string_view>
#include <vector>

#include "core/count_text.hpp"
#include "core/geometry.hpp"
#include "core/printable.hpp"
#include "io/file_errors.hpp"

namespace sepconv {
namespace {

/// An array with only the members that determine keys, and this key encoding.
ZarrArray with_key_encoding(const ZarrArray& array, bool as_v2, char separator) {
  ZarrArray keys;
  keys.shape = array.shape, keys.chunk = array.chunk;
  keys.v2_chunk_keys = as_v2, keys.separator = separator;
  return keys;
}

std::int64_t count_chunks(const ZarrArray& array) {
  std::int64_t count = 1;
  for (std::size_t i = 0; i < array.shape.size(); ++i)
    if (__builtin_mul_overflow(count, ceil_div(array.shape[i], array.chunk[i]), &count))
      return std::numeric_limits<std::int64_t>::max();
  return count;
}

bool is_metadata(std::string_view name) {
  const std::string_view file = name.substr(name.rfind('/') + 1);
  return file.starts_with(".z") || file == "zarr.json";
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](unsigned char letter) { return std::tolower(letter); });
  return result;
}

std::size_t count_numbers(std::string_view name) {
  std::size_t count = 0;
  bool was_digit = false;
  for (const char letter : name) {
    const bool is_digit = letter >= '0' && letter <= '9';
    count += is_digit && !was_digit ? 1 : 0;
    was_digit = is_digit;
  }
  return count;
}

/// How the metadata would have to be changed for the key encoding of `keys`.
std::string encoding_hint(const ZarrArray& array, const ZarrArray& keys) {
  if (array.version == 2 && !keys.v2_chunk_keys)
    return "they are those of Zarr 3, and the metadata those of Zarr 2";
  if (array.version == 2)
    return fmt::format("say \"dimension_separator\": \"{}\" in .zarray", keys.separator);
  return fmt::format(
      "say \"chunk_key_encoding\": {{\"name\": \"{}\", \"configuration\": {{\"separator\": \"{}\"}}}} in "
      "zarr.json",
      keys.v2_chunk_keys ? "v2" : "default", keys.separator);
}

/// Why an existing name is not a key of the array; empty if unknown.
std::string cause_in(const ZarrArray& array, std::string_view name) {
  std::vector<ZarrArray> encodings;
  for (const bool as_v2 : {true, false})
    for (const char separator : {'.', '/'}) encodings.push_back(with_key_encoding(array, as_v2, separator));
  for (const ZarrArray& encoding : encodings)
    if (encoding.has_key(name)) return encoding_hint(array, encoding);
  if (array.has_key(lower(name))) return "write them in lower case";
  for (std::size_t slash = name.find('/'); slash != name.npos; slash = name.find('/', slash + 1))
    for (const ZarrArray& encoding : encodings)
      if (encoding.has_key(name.substr(slash + 1)))
        return fmt::format("they are in the folder {} below the array", printable(name.substr(0, slash)));
  const std::size_t numbers = count_numbers(name);
  if (numbers == array.shape.size())
    return "these positions are outside its shape; the metadata belong to another array";
  if (numbers > 0)
    return fmt::format("numbers in these are {}, and axes of the array {}", numbers, array.shape.size());
  return {};
}

/// The first cause found among the unknown names; empty if there is none.
std::string cause_of(const ZarrArray& array, const std::vector<std::string>& unknown_names) {
  const std::string expected = array.chunk_key(ZarrShape(array.shape.size()));
  for (const std::string& name : unknown_names)
    if (const std::string cause = cause_in(array, name); !cause.empty())
      return fmt::format("files are named like {} where the metadata say {}: {}", printable(name), expected,
                         cause);
  return {};
}

}  // namespace

std::string StoredChunks::text() const {
  return fmt::format("{}{} of {}", is_counted ? "" : "at least ", stored, count_text(all, unit));
}

StoredChunks count_stored(const ZarrStore& store, const std::string& key, const ZarrArray& array) {
  constexpr std::size_t kMaxUnknownNames = 100;
  const std::int64_t max_names = array.has_fill ? 10'000 : 100'000;
  StoredChunks chunks{.all = count_chunks(array), .unit = array.shards.empty() ? "chunk" : "shard"};
  std::vector<std::string> unknown_names;
  std::int64_t listed = 0;
  store.for_each_object(key, array.shape.size() + 1, [&](std::string_view name) {
    chunks.is_counted = ++listed <= max_names;
    if (!chunks.is_counted) return false;
    if (array.has_key(name))
      ++chunks.stored;
    else if (!is_metadata(name) && unknown_names.size() < kMaxUnknownNames)
      unknown_names.emplace_back(name);
    return chunks.stored < chunks.all;
  });
  if (!chunks.is_complete()) chunks.cause = cause_of(array, unknown_names);
  if (chunks.stored == 0 && chunks.cause.empty())
    chunks.cause = fmt::format("no file is named like {}: it was never written, or copied without its chunks",
                               array.chunk_key(ZarrShape(array.shape.size())));
  return chunks;
}

std::string check_missing_chunks(const StoredChunks& chunks, const ZarrArray& array,
                                 const std::filesystem::path& name, std::optional<MissingChunks> choice) {
  if (chunks.is_complete() || choice == MissingChunks::fill) return {};
  if (chunks.stored == 0 && chunks.all > 0)
    throw_read_error(
        name, fmt::format("none of its {} is stored: {}; or give OpenOptions::missing_chunks = fill, and all "
                          "of it is its fill value",
                          count_text(chunks.all, chunks.unit), chunks.cause));
  const std::string missing =
      chunks.is_counted
          ? fmt::format("{} of its {} {} not stored", chunks.all - chunks.stored,
                        count_text(chunks.all, chunks.unit), chunks.all - chunks.stored == 1 ? "is" : "are")
          : fmt::format("its {} are too many to be counted", count_text(chunks.all, chunks.unit));
  if (choice == MissingChunks::error && chunks.is_counted)
    throw_read_error(name, missing + "; copy them again, or leave OpenOptions::missing_chunks = error out");
  if (choice != MissingChunks::error && !chunks.cause.empty())
    return fmt::format("{} and read as {}, though {}", missing, array.has_fill ? "the fill value" : "0",
                       chunks.cause);
  if (choice == MissingChunks::error || array.has_fill) return {};
  return fmt::format(
      "{}, and the fill value is null: what is not stored is not known, and is read as 0; "
      "OpenOptions::missing_chunks = error refuses that",
      missing);
}

}  // namespace sepconv
