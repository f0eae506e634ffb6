// Files as arrays of three axes, for transposition: NPY and raw arrays of any shape, and images as rows x
// columns x channels.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "io/formats.hpp"

namespace sepconv {

/// The array in a file, in C order. An array in Fortran order has its axes reversed.
struct TensorSpec {
  std::array<std::int64_t, 3> extent{1, 1, 1};  ///< of an image: rows, columns, channels
  int axes =
      3;  ///< 2: a matrix; extent[2] is 1 and not part of the shape. Images of one channel are matrices
  std::int64_t element_bytes = 1;
  std::optional<PixelType>
      type{};         ///< null for elements that are not pixels, such as complex numbers or 64-bit integers
  std::string dtype;  ///< NPY dtype, e.g. "<c16", that the result gets too. In native byte order if `type`
                      ///< is set

  std::int64_t elements() const noexcept { return extent[0] * extent[1] * extent[2]; }
};

/// The rows and columns of an array of (a, b, c) elements.
enum class TensorGrid {
  image,   ///< a rows of b pixels with c channels
  spread,  ///< a rows of b * c elements
  lines,   ///< a * b rows of c elements
};

/// An open file that contains an array.
class TensorFile {
 public:
  /// Opens all formats of open_reader(), and NPY files with elements of 1, 2, 4, 8 or 16 bytes that are not
  /// pixels. Throws IoError.
  static TensorFile open(const std::filesystem::path& path, const OpenOptions& options = {},
                         Formats formats = built_in_formats());

  const TensorSpec& spec() const noexcept { return spec_; }
  /// Whether the axes of spec() are those of the file in reverse order.
  bool is_reversed() const noexcept { return reversed_; }
  /// Whether the file stores its elements in order and uncompressed, so that they can be read in any shape
  /// with the same number of elements.
  bool is_flat() const noexcept { return flat_; }
  /// The image whose layout and metadata a result may inherit; null for a flat file.
  const Reader* image() const noexcept { return image_.get(); }

  /// A reader of the array in this extent, which must be spec().extent unless is_flat(). Elements that are
  /// not pixels are read as unsigned integers, f32 or f64 of their size; 16 bytes are read as two f64. Call
  /// once. Throws IoError.
  std::unique_ptr<Reader> reader(const std::array<std::int64_t, 3>& extent, TensorGrid grid) &&;

 private:
  TensorSpec spec_;
  bool flat_ = false;
  bool reversed_ = false;
  std::filesystem::path path_;
  OpenOptions options_;
  std::int64_t offset_ = 0;
  bool big_endian_ = false;
  std::string description_;
  std::vector<std::string> warnings_;
  std::unique_ptr<Reader> image_;
};

/// The image that `grid` presents of an array with this extent and spec's elements.
ImageSpec grid_spec(const TensorSpec& spec, const std::array<std::int64_t, 3>& extent, TensorGrid grid);

/// Whether the format of this name stores elements in order: .npy, .raw, .bin.
bool has_flat_format(const std::filesystem::path& path, Formats formats = built_in_formats());

/// A writer of a file that contains `spec`. It takes the pixels of grid_spec(spec, extent, grid). `extent` is
/// spec.extent, or any with as many elements if has_flat_format(path). Throws as create_writer(), and
/// InvalidArgument for elements or a shape that the format does not support.
std::unique_ptr<Writer> create_tensor_writer(const std::filesystem::path& path, const TensorSpec& spec,
                                             const std::array<std::int64_t, 3>& extent, TensorGrid grid,
                                             const CreateOptions& options,
                                             Formats formats = built_in_formats());

}  // namespace sepconv
