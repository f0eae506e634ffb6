// Files seen as arrays of three axes, for permutations of them: NPY and raw arrays of any shape, and images
// as rows x columns x channels.
#pragma once

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "io/formats.hpp"

namespace sepconv {

/// What a file holds, as an array in C order: one in Fortran order is one of the axes the other way round.
struct TensorSpec {
  std::array<std::int64_t, 3> extent{1, 1, 1};  ///< of an image: rows, columns, channels
  int axes =
      3;  ///< 2: a matrix, extent[2] is 1 and is not part of the shape. Images of one channel are matrices
  std::int64_t element_bytes = 1;
  std::optional<PixelType>
      type{};         ///< nothing for elements that no image has, such as complex numbers or 64-bit integers
  std::string dtype;  ///< NPY's, e.g. "<c16": goes along to the result; of elements with a `type` in this
                      ///< machine's byte order

  std::int64_t elements() const noexcept { return extent[0] * extent[1] * extent[2]; }
};

/// How an array of (a, b, c) elements is cut into rows and pixels.
enum class TensorGrid {
  image,   ///< a rows of b pixels of c elements
  spread,  ///< a rows of b * c elements
  lines,   ///< a * b rows of c elements
};

/// A file that was found to hold an array, opened.
class TensorFile {
 public:
  /// Formats as open_reader; NPY also with elements of 1, 2, 4, 8 and 16 bytes that are not pixels. Throws
  /// IoError.
  static TensorFile open(const std::filesystem::path& path, const OpenOptions& options = {},
                         Formats formats = built_in_formats());

  const TensorSpec& spec() const noexcept { return spec_; }
  /// Whether the axes of spec() are those of the array the other way round.
  bool is_reversed() const noexcept { return reversed_; }
  /// Whether elements lie in the file in order, so that any shape of the same number of elements can be read
  /// from it.
  bool is_flat() const noexcept { return flat_; }
  /// The file as an image, of which a result may keep layout and metadata; null for a flat file.
  const Reader* image() const noexcept { return image_.get(); }

  /// A reader of pixels for an array of this extent, spec().extent unless is_flat(). Elements that are no
  /// pixels look like unsigned integers, f32 or f64 of their size, 16 bytes like two f64. Call once. Throws
  /// IoError.
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

/// The pixels that `grid` makes of an array of this extent and of spec's elements.
ImageSpec grid_spec(const TensorSpec& spec, const std::array<std::int64_t, 3>& extent, TensorGrid grid);

/// Whether a file of this name would be written element after element: .npy, .raw, .bin.
bool is_flat_name(const std::filesystem::path& path, Formats formats = built_in_formats());

/// A writer for a file that holds `spec`, which is given pixels as `grid` cuts `extent`: spec's own extent,
/// or any of as many elements for is_flat_name(path). Errors as create_writer; InvalidArgument for elements
/// or a shape that the format does not hold.
std::unique_ptr<Writer> create_tensor(const std::filesystem::path& path, const TensorSpec& spec,
                                      const std::array<std::int64_t, 3>& extent, TensorGrid grid,
                                      const CreateOptions& options, Formats formats = built_in_formats());

}  // namespace sepconv
