// PNG files, by libpng: https://www.w3.org/TR/png/
#pragma once

#include "sepconv/io/file.hpp"
#include "sepconv/io/files.hpp"

namespace sepconv {

/// Reads all chunks but the pixels'. Throws IoError for a damaged or truncated file.
std::unique_ptr<Reader> open_png(InputFile file);
std::unique_ptr<Writer> create_png(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
