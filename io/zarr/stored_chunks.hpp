// Counts the stored chunks of an array and finds out why chunks are missing. Private to this folder.
#pragma once

#include <cstdint>
#include <string>

#include "io/formats.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {

struct StoredChunks {
  std::int64_t stored = 0;
  std::int64_t all = 0;        ///< saturates at the maximum of 64 bits
  bool is_counted = true;      ///< false: `stored` is a lower bound
  std::string unit = "chunk";  ///< or "shard": what an object of the store contains
  std::string cause{};  ///< why chunks are missing: "files are named like 0/0 where ..."; empty if unknown

  bool is_complete() const noexcept { return is_counted && stored == all; }
  /// "3 of 4 chunks".
  std::string text() const;
};

/// Counts chunks by their names: lists at most 10 000 names, or 100 000 for an array without a fill value.
StoredChunks count_stored(const ZarrStore& store, const std::string& key, const ZarrArray& array);

/// Checks missing chunks by the user's choice. Throws IoError if no chunk is stored, or if a chunk is missing
/// and the choice is `error`. Returns a warning about chunks that are read as the fill value, or an empty
/// string.
std::string check_missing_chunks(const StoredChunks& chunks, const ZarrArray& array,
                                 const std::filesystem::path& name, std::optional<MissingChunks> choice);

}  // namespace sepconv
