// JPEG files, by libjpeg: ITU-T T.81, and T.871 (JFIF)
#pragma once

#include "io/byte_file.hpp"
#include "io/formats.hpp"

namespace sepconv {

bool is_jpeg(std::span<const std::byte> head) noexcept;

/// Reads all segments before the pixels. Throws IoError for a damaged file and for kinds that libjpeg does
/// not decode.
std::unique_ptr<Reader> open_jpeg(InputFile file, const OpenOptions& options = {});
/// `options.layout.level` is the quality, 1 to 100; 0 means 90.
std::unique_ptr<Writer> create_jpeg(const std::filesystem::path& path, const ImageSpec& spec,
                                    const CreateOptions& options);

}  // namespace sepconv
