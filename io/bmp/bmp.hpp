// BMP files of Windows and of OS/2: https://learn.microsoft.com/windows/win32/gdi/bitmap-storage
#pragma once

#include "io/byte_file.hpp"
#include "io/formats.hpp"

namespace sepconv {

bool is_bmp(std::span<const std::byte> head) noexcept;

/// Reads the header, and follows run lengths to their end. A palette of greys becomes one channel, any other
/// three; a fourth channel is alpha, where a mask says so; values of other than 8 bits are scaled to 0 to
/// 255. Throws IoError for a damaged or truncated file.
std::unique_ptr<Reader> open_bmp(InputFile file, const OpenOptions& options = {});
/// Uncompressed: one channel with a palette of all greys, or three.
std::unique_ptr<Writer> create_bmp(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
