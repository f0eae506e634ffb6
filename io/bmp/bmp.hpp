// BMP files of Windows and of OS/2: https://learn.microsoft.com/windows/win32/gdi/bitmap-storage
#pragma once

#include "io/byte_file.hpp"
#include "io/formats.hpp"

namespace sepconv {

bool is_bmp(std::span<const std::byte> head) noexcept;

/// Reads the header, and checks run lengths to their end. A grey palette becomes one channel, any other image
/// three. A fourth channel is alpha, present if its mask is not 0. Values of other than 8 bits are scaled to
/// 0 to 255. Throws IoError for a damaged or truncated file.
std::unique_ptr<Reader> open_bmp(InputFile file, const OpenOptions& options = {});
/// Writes an uncompressed file: one channel with a palette, or three channels.
std::unique_ptr<Writer> create_bmp(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
