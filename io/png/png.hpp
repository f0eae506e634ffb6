// PNG files, by libpng: https://www.w3.org/TR/png/
#pragma once

#include "io/byte_file.hpp"
#include "io/formats.hpp"

namespace sepconv {

bool is_png(std::span<const std::byte> head) noexcept;

/// Reads all chunks except the pixels. An animation requires `options.page` 0. Throws IoError for a damaged
/// or truncated file.
std::unique_ptr<Reader> open_png(InputFile file, const OpenOptions& options = {});
/// Describes the file. The number of images counts an animation's frames and its default image.
FileInfo describe_png(InputFile file, const OpenOptions& options);
std::unique_ptr<Writer> create_png(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
