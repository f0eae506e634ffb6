// Label images next to an image of OME-Zarr, which are not part of it and go along with it. Private to this
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

/// All files below a folder, as they are; or, for an image of the other version of Zarr or of fewer levels,
/// the label images that the folder's metadata name, with as many levels.
class LabelCopyJob {
 public:
  /// Reads metadata. `zarr`: the version of the result. Throws IoError for what is damaged or is nothing that
  /// this version has.
  LabelCopyJob(const LabelImages& labels, int zarr, std::int64_t levels);

  /// What is otherwise than in the source; empty: nothing.
  std::string difference() const;
  /// Upper bound of what copying takes.
  std::int64_t memory_bytes() const;
  /// Throws IoError, among that for links that lead out of the folder.
  void write(StagingDirectory& to, const std::string& key) const;

 private:
  struct Group {
    std::string key;
    ZarrTexts texts;
  };
  struct Level {
    std::string key;
    ZarrArray from, made;
  };

  void add_image(const std::string& key, std::int64_t levels);
  void write_level(const Level& level, StagingDirectory& to, const std::string& key) const;

  std::shared_ptr<const ZarrStore> store_;
  int zarr_;
  bool are_same_ = false, is_same_version_ = false, has_all_levels_ = false;
  std::vector<Group> groups_;  // and levels: where they are not the same
  std::vector<Level> levels_;
};

}  // namespace sepconv
