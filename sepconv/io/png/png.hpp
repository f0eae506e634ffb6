// PNG files, by libpng: https://www.w3.org/TR/png/
#pragma once

#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/formats.hpp"

namespace sepconv {

/// Reads all chunks but the pixels'. `page` is 0 or nothing; an animation wants it said. Throws IoError for a
/// damaged or truncated file.
std::unique_ptr<Reader> open_png(InputFile file, std::optional<int> page = {});
/// Frames of an animation, and the image that is shown without animation.
std::int64_t images_of_png(const InputFile& file);
std::unique_ptr<Writer> create_png(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
