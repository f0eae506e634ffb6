// Copies the label images next to an OME-Zarr image, which are not part of it, to a result. Private to this
// folder.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "io/file_layout.hpp"
#include "io/zarr/staging_directory.hpp"
#include "io/zarr/zarr_result.hpp"

namespace sepconv {

/// Copies all files below a folder unchanged. For a result of the other version of Zarr or with fewer levels,
/// copies the label images in the folder's metadata, with as many levels.
class LabelCopyJob {
 public:
  /// Reads the metadata. `zarr`: the Zarr version of the result. Throws IoError for damaged metadata and for
  /// features that this version does not support.
  LabelCopyJob(const LabelImages& labels, int zarr, std::int64_t levels);

  /// A sentence about differences from the source; empty if there are none.
  std::string difference() const;
  /// Upper bound of the memory for copying.
  std::int64_t memory_bytes() const;
  /// Throws IoError, also for links that lead out of the folder.
  void write(StagingDirectory& to, const std::string& key) const;

 private:
  struct Group {
    std::string key;
    MetadataFiles texts;
  };
  struct Level {
    std::string key;
    ZarrArray source, result;
  };

  void add_image(const std::string& key, std::int64_t levels);
  void write_level(const Level& level, StagingDirectory& to, const std::string& key) const;

  std::shared_ptr<const ZarrStore> store_;
  int zarr_;
  bool can_copy_all_ = false, is_same_version_ = false, has_all_levels_ = false;
  std::vector<Group> groups_;  // groups and levels that cannot be copied with the folder
  std::vector<Level> levels_;
};

}  // namespace sepconv
