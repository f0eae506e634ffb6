// How many chunks of an array are there, and why none is. Private to this folder.
#pragma once

#include <cstdint>
#include <string>

#include "io/formats.hpp"
#include "io/zarr/zarr_array.hpp"

namespace sepconv {

struct StoredChunks {
  std::int64_t stored = 0;
  std::int64_t all = 0;        ///< at most what 64 bits hold
  bool is_counted = true;      ///< else there are `stored` at least
  std::string unit = "chunk";  ///< what an object of the store is: "shard"
  std::string
      cause{};  ///< why some are not: "files are named like 0/0 where the metadata say ..."; empty: none seen

  bool is_complete() const noexcept { return is_counted && stored == all; }
  /// "3 of 4 chunks".
  std::string text() const;
};

/// Lists names, and no more than ten thousand; a hundred thousand of an array without a fill value.
StoredChunks count_stored(const ZarrStore& store, const std::string& key, const ZarrArray& array);

/// Throws IoError where the choice, or for want of one, the count says that what is read would not be what
/// was written. Returns what is to be said of the rest; empty: nothing.
std::string check_missing_chunks(const StoredChunks& chunks, const ZarrArray& array,
                                 const std::filesystem::path& name, std::optional<MissingChunks> choice);

}  // namespace sepconv
