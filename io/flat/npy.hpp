// NPY, NumPy's file of one array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <filesystem>
#include <memory>
#include <span>

#include "sepconv/io/files.hpp"
#include "sepconv/io/flat/flat_image.hpp"

namespace sepconv {

/// Whether a file that begins with these bytes (at least 6) is an NPY file.
bool is_npy(std::span<const std::byte> head) noexcept;

/// Shape, type, byte order and place of the array. Throws IoError: damaged header, dtype or order that is not
/// read. Arrays of (rows, cols), (rows, cols, channels) or (cols) in C order are images.
FlatImage parse_npy(const InputFile& file);

std::unique_ptr<Reader> open_npy(InputFile file);

/// Version 1.0; the pixels begin at a multiple of 64 bytes.
std::unique_ptr<Writer> create_npy(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
