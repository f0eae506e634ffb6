// NPY, NumPy's file of one array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_stream.hpp"
#include "io/flat/flat_image.hpp"
#include "io/flat/npy_axes.hpp"
#include "io/formats.hpp"
#include "io/raster_set.hpp"

namespace sepconv {

/// Whether a file that begins with these bytes (at least 6) is an NPY file.
bool is_npy(std::span<const std::byte> head) noexcept;

/// An array as the header says it, whatever its type.
struct NpyArray {
  std::string descr;  ///< "<f4"
  std::vector<std::int64_t> shape;
  bool fortran_order = false;  ///< the first axis has the smallest step, not the last
  std::int64_t offset = 0;     ///< of the first element, in bytes
  std::string version;         ///< "1.0"
};

/// Throws IoError for a damaged header and a structured array.
NpyArray parse_npy_array(const InputFile& file);
/// The same of bytes that begin so; the next are then elements.
NpyArray parse_npy_array(InputBytes& bytes);

/// A sentence if the file goes on where the array of this many bytes ends; numpy.save appends to a file that
/// is open.
std::vector<std::string> npy_warnings(const InputFile& file, const NpyArray& array, std::int64_t bytes);

/// What a dtype stands for and whether it is stored big-endian; nothing for one that is not that of an image.
struct NpyElements {
  SampleType type;
  bool big_endian;
};
std::optional<NpyElements> npy_elements(std::string_view descr);
/// All but packed ones.
bool npy_holds(SampleType type) noexcept;

/// A header of version 1.0 whose length is a multiple of 64 bytes.
std::vector<std::byte> npy_header(std::string_view descr, std::span<const std::int64_t> shape);
/// The dtype of elements in this machine's byte order.
std::string npy_descr(SampleType type);

/// The shape of an array of such images, along `others` if there are any.
std::vector<std::int64_t> npy_shape(std::vector<std::int64_t> others, const ImageSpec& spec,
                                    SampleType stored);
/// For several, without the axes that are `single`; of one there are no others.
std::vector<std::int64_t> npy_shape(const RasterSetSpec& spec, SampleType stored);

/// The images of an array: the first of them, and the axes along which the others follow.
struct NpyImages {
  FlatImage first;
  std::vector<NpyAxis> others;
  std::string names;  ///< of all axes
};
/// What an array of this name holds, whatever of it is there. `axes` as in OpenOptions: see npy_axes().
/// Throws IoError: dtype that is not read.
NpyImages npy_images(const std::filesystem::path& path, const NpyArray& array, std::string_view axes = {});
/// The same of a file. Throws IoError: damaged header, too short.
NpyImages parse_npy(const InputFile& file, std::string_view axes = {});

/// The only image, or the one that the options choose.
std::unique_ptr<Reader> open_npy(InputFile file, const OpenOptions& options = {});
std::unique_ptr<RasterSet> open_npy_set(InputFile file, const OpenOptions& options = {});
FileInfo describe_npy(InputFile file, const OpenOptions& options);

/// Version 1.0; the pixels begin at a multiple of 64 bytes.
std::unique_ptr<Writer> create_npy(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

/// The same of an array of several images. Axes that are `single` are left out.
std::unique_ptr<RasterSetWriter> create_npy_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                const CreateOptions& options);

}  // namespace sepconv
