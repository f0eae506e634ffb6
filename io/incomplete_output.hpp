// Recognises incomplete outputs in a folder. Internal to io/.
#pragma once

#include <filesystem>
#include <system_error>

#include "io/checkpoint_folder.hpp"
#include "io/checkpoint_names.hpp"

namespace sepconv {

/// Name of a file that marks an incomplete output folder.
inline constexpr const char* kUnfinishedMark = ".sepconv-unfinished";

/// Whether a folder is an incomplete result or a checkpoint.
inline bool is_incomplete_output(const std::filesystem::path& folder) {
  std::error_code ignored;
  const bool is_partial =
      folder.extension() == partial_names::kFolderSuffix && PartialFolder(folder).is_checkpoint();
  return is_partial || std::filesystem::exists(folder / kUnfinishedMark, ignored);
}

}  // namespace sepconv
