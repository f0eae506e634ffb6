// Raw files: only pixels, whose shape and type come from the caller or the file name.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "io/flat/flat_image.hpp"
#include "io/formats.hpp"

namespace sepconv {

/// Parses the shape in a name `name_COLSxROWS[xCHANNELS]_TYPE.raw` (or .bin); null for other names.
std::optional<ImageSpec> parse_raw_name(const std::filesystem::path& path);

/// Whether the options or the name state a shape, so that the first bytes are not examined.
bool is_raw(const std::filesystem::path& path, const OpenOptions& options);

/// Opens a file with the shape of `options.raw`, else of its name. A file size that does not match the name
/// is an error. A shape from the caller may leave bytes at the end, so that planes can be read one by one.
std::unique_ptr<Reader> open_raw(InputFile file, const OpenOptions& options);

/// Throws InvalidArgument when the name states another shape.
std::unique_ptr<Writer> create_raw(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
