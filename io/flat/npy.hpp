// NPY, NumPy's format of one array: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
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

/// The header of an array, of any type.
struct NpyArray {
  std::string descr;  ///< "<f4"
  std::vector<std::int64_t> shape;
  bool fortran_order = false;  ///< the first axis has the smallest stride, not the last
  std::int64_t offset = 0;     ///< of the first element, in bytes
  std::string version;         ///< "1.0"
};

/// Parses the header. Throws IoError if it is damaged or describes a structured array.
NpyArray parse_npy_array(const InputFile& file);
/// The same for a stream, which is then at the first element.
NpyArray parse_npy_array(InputBytes& bytes);

/// Returns a warning if the file continues after the array of `bytes` bytes. numpy.save appends to an open
/// file.
std::vector<std::string> npy_warnings(const InputFile& file, const NpyArray& array, std::int64_t bytes);

/// Element type and byte order of a dtype; null if it is not supported for images.
struct NpyElements {
  SampleType type;
  bool big_endian;
};
std::optional<NpyElements> npy_elements(std::string_view descr);
/// True for all types except packed ones.
bool npy_supports(SampleType type) noexcept;

/// A header of version 1.0 whose length is a multiple of 64 bytes.
std::vector<std::byte> npy_header(std::string_view descr, std::span<const std::int64_t> shape);
/// The dtype of a type in the machine's byte order.
std::string npy_descr(SampleType type);

/// The shape of an array of images along the axes `others`, which may be empty.
std::vector<std::int64_t> npy_shape(std::vector<std::int64_t> others, const ImageSpec& spec,
                                    SampleType stored);
/// The same for a set, without the axes that are `single`. A single image has no other axes.
std::vector<std::int64_t> npy_shape(const RasterSetSpec& spec, SampleType stored);

/// The images of an array: the first image and the axes of the others.
struct NpyImages {
  FlatImage first;
  std::vector<NpyAxis> others;
  std::string names;  ///< of all axes
};
/// The images that the header of an array describes, without checking the file's size. `axes` as in
/// OpenOptions: see npy_axes(). Throws IoError if the dtype is not supported.
NpyImages npy_images(const std::filesystem::path& path, const NpyArray& array, std::string_view axes = {});
/// Parses a file. Throws IoError if the header is damaged or the file is too short.
NpyImages parse_npy(const InputFile& file, std::string_view axes = {});

/// Opens the only image, or the one that the options select.
std::unique_ptr<Reader> open_npy(InputFile file, const OpenOptions& options = {});
std::unique_ptr<RasterSet> open_npy_set(InputFile file, const OpenOptions& options = {});
FileInfo describe_npy(InputFile file, const OpenOptions& options);

/// Creates version 1.0; the pixels begin at a multiple of 64 bytes.
std::unique_ptr<Writer> create_npy(const std::filesystem::path& path, const ImageSpec& spec,
                                   const CreateOptions& options);

/// The same for an array of several images. Axes that are `single` are left out.
std::unique_ptr<RasterSetWriter> create_npy_set(const std::filesystem::path& path, const RasterSetSpec& spec,
                                                const CreateOptions& options);

}  // namespace sepconv
