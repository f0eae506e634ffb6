// Handwritten digits in IDX files, the format of MNIST: a magic number, the sizes, then one byte per element.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace mlp {

/// Images of one size, one after another, and the digit shown by each.
struct Digits {
  std::int64_t rows = 0;  ///< of an image
  std::int64_t cols = 0;
  std::vector<std::uint8_t> pixels;  ///< 0 to 255
  std::vector<std::uint8_t> labels;  ///< 0 to 9

  std::int64_t count() const noexcept { return static_cast<std::int64_t>(labels.size()); }
  std::int64_t image_pixels() const noexcept { return rows * cols; }
  const std::uint8_t* image(std::int64_t index) const noexcept {
    return pixels.data() + index * image_pixels();
  }
};

/// Throws sepconv::IoError for files that are missing, compressed, damaged or do not belong together.
Digits read_digits(const std::filesystem::path& images, const std::filesystem::path& labels);

struct DataSet {
  Digits train;
  Digits held_out;
};

/// Reads the four files with MNIST's names: train-images-idx3-ubyte, train-labels-idx1-ubyte,
/// t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte. Throws as read_digits.
DataSet read_data_set(const std::filesystem::path& folder);

}  // namespace mlp
