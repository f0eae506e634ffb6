// What the axes of an array are: rows, columns and channels of images, and of how many.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/flat/flat_image.hpp"

namespace sepconv {

/// An axis of an array that is none of its images.
struct NpyAxis {
  char name;  ///< as it was given: 'z'
  std::int64_t length;
  std::int64_t step;  ///< elements from one image to the next
};

struct NpyAxes {
  std::string names;  ///< of all axes
  Extent extent;
  std::int64_t channels = 1;
  Strides steps;                ///< in an image
  std::vector<NpyAxis> others;  ///< in the order of the array; empty for an array that is one image
};

/// `names` has a letter for each axis: y, x, c for channels if it comes last, and any others; without it one
/// axis is a row, two are yx, and three are yxc if the last is at most kMaxGuessedChannels long. Throws
/// IoError for a shape without images or of which this is not known, InvalidArgument for names that cannot
/// be.
NpyAxes npy_axes(std::span<const std::int64_t> shape, bool fortran_order, std::string_view names,
                 const std::filesystem::path& path);
inline constexpr std::int64_t kMaxGuessedChannels = 4;

}  // namespace sepconv
