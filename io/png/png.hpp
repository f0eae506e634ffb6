// PNG files, by libpng: https://www.w3.org/TR/png/
#pragma once

#include "io/byte_file.hpp"
#include "io/formats.hpp"

namespace sepconv {

bool is_png(std::span<const std::byte> head) noexcept;

/// Reads all chunks but the pixels'. An animation wants page 0 said. Throws IoError for a damaged or
/// truncated file.
std::unique_ptr<Reader> open_png(InputFile file, const OpenOptions& options = {});
/// Its images are the frames of an animation, and the image that is shown without animation.
FileInfo describe_png(InputFile file, const OpenOptions& options);
std::unique_ptr<Writer> create_png(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
