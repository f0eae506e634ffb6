// PNG, JPEG, PNM and BMP files: decoded and encoded as a whole, in memory, by the OpenCV module.
#pragma once

#include <filesystem>
#include <memory>

#include "sepconv/io/files.hpp"
#include "sepconv/io/opencv/image_header.hpp"

namespace sepconv {

/// Bound of what the module's libraries and their tables add to the process when they are loaded.
inline constexpr std::int64_t kImgcodecsBytes = std::int64_t{64} << 20;

/// Reads the header only; the module is loaded and the image decoded at the first read, and held from then
/// on.
std::unique_ptr<Reader> open_image(const InputFile& file, SmallFormat format);

/// `ending` with its dot, in lower case: .png .jpg .jpeg .ppm .pgm .bmp . Throws InvalidArgument for a type
/// or number of channels that the format cannot hold, IoError when the module is missing. Encodes in
/// finish().
std::unique_ptr<Writer> create_image(const std::filesystem::path& path, const std::string& ending,
                                     const ImageSpec& spec, const CreateOptions& options);

/// Copies pixels of 8 or 16 bits and exchanges the first and third of 3 or 4 channels: RGB to BGR and back.
void copy_exchanging_red_and_blue(const ConstPixelView& from, const PixelView& to) noexcept;

}  // namespace sepconv
