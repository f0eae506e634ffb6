// The files that a chain's stages are made of.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/path_conflicts.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// What the chain's stages, those of stage_table(), were made of.
PathsInUse files_read_by(const Chain& chain);
/// The input image next to that.
PathsInUse files_read_by(const std::filesystem::path& input, const Chain& chain = {});

/// Those of them that are second images, whose pixels are read while the chain runs.
std::vector<std::filesystem::path> secondary_images_of(const Chain& chain);

/// The first stage that has a second image in memory; "" where none has. Chains within stages have none.
std::string stage_with_pixels_in_memory(const Chain& chain);

/// The text of a stage whose files are called by what they are called in every folder.
std::string with_whole_paths(std::string_view stage);
/// A chain of such stages. What names a file by another name is made again, and so reads it again.
Chain with_whole_paths(const Chain& chain);

}  // namespace sepconv
