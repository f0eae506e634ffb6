// Files of nothing but pixels, whose shape and type come from the caller or from the name.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "io/flat/flat_image.hpp"
#include "io/formats.hpp"

namespace sepconv {

/// The shape that a name `name_COLSxROWS[xCHANNELS]_TYPE.raw` (or .bin) states; nothing for other names.
std::optional<ImageSpec> raw_spec_of_name(const std::filesystem::path& path);

/// Whether the options or the name state a shape: such a file may begin with any bytes.
bool is_meant_as_raw(const std::filesystem::path& path, const OpenOptions& options);

/// What `options.raw` says, else what the name says. A size that differs from the one in the name is an
/// error, since one of them is wrong; a shape given by the caller may leave bytes at the end over, so that
/// planes can be read one by one.
std::unique_ptr<Reader> open_raw(InputFile file, const OpenOptions& options);

/// Throws InvalidArgument when the name states another shape.
std::unique_ptr<Writer> create_raw(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
