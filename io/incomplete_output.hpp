// Recognises incomplete outputs in a folder. Internal to io/.
#pragma once

#include <filesystem>
#include <system_error>

#include "io/checkpoint_folder.hpp"
#include "io/checkpoint_names.hpp"

namespace sepconv {

/// A file in a folder that is not complete.
inline constexpr const char* kUnfinishedMark = ".sepconv-unfinished";

/// Whether a folder is a result that is not complete, or a partial one, however little there is of it.
inline bool is_incomplete_output(const std::filesystem::path& folder) {
  std::error_code ignored;
  const bool is_partial = folder.extension() == partial_names::kEnding && PartialFolder(folder).is_own();
  return is_partial || std::filesystem::exists(folder / kUnfinishedMark, ignored);
}

}  // namespace sepconv
