// Meaning of the axes of an array: rows, columns and channels of images, and axes of several images.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/flat/flat_image.hpp"

namespace sepconv {

/// An axis of an array besides rows, columns and channels.
struct NpyAxis {
  char name;  ///< its letter, such as 'z'
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

/// `names` has a letter for each axis: y, x, c for channels if it is the last, and any others. Without names,
/// one axis is a row, two are yx, and three are yxc if the last has at most kMaxGuessedChannels elements.
/// Throws IoError for a shape without images or with unknown axes, InvalidArgument for invalid names.
NpyAxes npy_axes(std::span<const std::int64_t> shape, bool fortran_order, std::string_view names,
                 const std::filesystem::path& path);
inline constexpr std::int64_t kMaxGuessedChannels = 4;

}  // namespace sepconv
