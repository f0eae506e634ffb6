// The files that a chain's stages read.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "io/path_conflicts.hpp"
#include "pipeline/chain/chain.hpp"

namespace sepconv {

/// Files from which the chain's stages of stage_table() were built.
PathsInUse files_read_by(const Chain& chain);
/// The same, preceded by the input image.
PathsInUse files_read_by(const std::filesystem::path& input, const Chain& chain = {});

/// The files among them that are second images, whose pixels are read while the chain runs.
std::vector<std::filesystem::path> secondary_images_of(const Chain& chain);

/// Name of the first stage with a second image in memory; "" if no stage has one. Nested chains have none.
std::string stage_with_pixels_in_memory(const Chain& chain);

/// The stage's text with absolute file paths.
std::string with_absolute_paths(std::string_view stage);
/// The chain with absolute file paths. Stages whose text changes are rebuilt and read their files again.
Chain with_absolute_paths(const Chain& chain);

}  // namespace sepconv
