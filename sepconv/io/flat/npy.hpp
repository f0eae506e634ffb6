// NPY, NumPy's file of one array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sepconv/io/flat/flat_image.hpp"
#include "sepconv/io/formats.hpp"

namespace sepconv {

/// Whether a file that begins with these bytes (at least 6) is an NPY file.
bool is_npy(std::span<const std::byte> head) noexcept;

/// An array in C order as the header says it, whatever its type.
struct NpyArray {
  std::string descr;  ///< "<f4"
  std::vector<std::int64_t> shape;
  std::int64_t offset = 0;  ///< of the first element, in bytes
  std::string version;      ///< "1.0"
};

/// Throws IoError for a damaged header, a structured array and Fortran order.
NpyArray parse_npy_array(const InputFile& file);

/// A sentence if the file goes on where the array of this many bytes ends; numpy.save appends to a file that
/// is open.
std::vector<std::string> npy_warnings(const InputFile& file, const NpyArray& array, std::int64_t bytes);

/// The pixel type that a dtype stands for and whether it is stored big-endian; nothing for one that is not
/// that of an image.
struct NpyPixels {
  PixelType type;
  bool big_endian;
};
std::optional<NpyPixels> npy_pixels(std::string_view descr);

/// A header of version 1.0 whose length is a multiple of 64 bytes.
std::vector<std::byte> npy_header(std::string_view descr, std::span<const std::int64_t> shape);
/// The dtype of a pixel type in this machine's byte order.
std::string npy_descr(PixelType type);

/// Shape, type, byte order and place of the array. Throws IoError: damaged header, dtype or order that is not
/// read. Arrays of (rows, cols), (rows, cols, channels) or (cols) in C order are images; `axes` as in
/// OpenOptions. Without it three axes are an image if the last is at most kMostGuessedChannels long: others
/// are as likely a stack of images.
FlatImage parse_npy(const InputFile& file, std::string_view axes = {});
inline constexpr std::int64_t kMostGuessedChannels = 16;

std::unique_ptr<Reader> open_npy(InputFile file, const OpenOptions& options = {});

/// Version 1.0; the pixels begin at a multiple of 64 bytes.
std::unique_ptr<Writer> create_npy(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

}  // namespace sepconv
