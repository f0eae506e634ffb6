// PNG, JPEG, PNM and BMP files: which of them a file is or is to be. Each is decoded and encoded as a whole.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "sepconv/io/formats.hpp"

namespace sepconv {

class InputFile;

enum class SmallFormat : std::uint8_t { png, jpeg, pnm, bmp };
std::string_view name_of(SmallFormat format) noexcept;

/// The format of a file that begins with these bytes (8 suffice), or nothing.
std::optional<SmallFormat> sniff_small_format(std::span<const std::byte> head) noexcept;

/// Reads the header only; the image is decoded at the first read, and held from then on. `page` is 0 or
/// nothing.
std::unique_ptr<Reader> open_image(InputFile file, SmallFormat format, std::optional<int> page = {});

/// More than one where open_image() wants page 0 to be named.
std::int64_t image_count(const InputFile& file, SmallFormat format);

/// `ending` with its dot, in lower case: .png .jpg .jpeg .ppm .pgm .bmp . Throws InvalidArgument for a type
/// or number of channels that the format cannot hold. Encodes in prepare_finish() or finish().
std::unique_ptr<Writer> create_image(const std::filesystem::path& path, std::string_view ending,
                                     const ImageSpec& spec, const CreateOptions& options);

}  // namespace sepconv
