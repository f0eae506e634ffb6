// Matrices in files, for stages that read one.
#pragma once

#include <filesystem>
#include <string>

#include "../io/temporary_folder.hpp"
#include "image.hpp"
#include "io/formats.hpp"

namespace sepconv::test {

/// A temporary folder of matrix and image files, removed on destruction.
class MatrixFolder {
 public:
  /// Writes `image` and returns the file's path.
  std::string save(const std::string& name, const Image& image) const {
    const std::filesystem::path path = folder_.path() / name;
    const auto writer = create_writer(path, image.spec(), {.overwrite = true});
    SerialExecutor executor;
    writer->write(Rect::whole(image.spec().extent), image.view(), executor);
    writer->finish();
    return path;
  }

  /// The path of a matrix of noise, which is written if it does not exist yet.
  std::string noise(Extent extent, PixelType type, std::uint64_t seed) const {
    const std::string name = std::to_string(extent.rows) + "x" + std::to_string(extent.cols) + "-" +
                             std::string(name_of(type)) + "-" + std::to_string(seed) + ".npy";
    if (std::filesystem::exists(folder_.path() / name)) return folder_.path() / name;
    return save(name, Image::of_pattern({extent, 1, type}, Pattern::noise, seed));
  }

  /// The same for a TIFF of several channels.
  std::string noise_image(const ImageSpec& spec, std::uint64_t seed) const {
    const std::string name = std::to_string(spec.extent.rows) + "x" + std::to_string(spec.extent.cols) + "x" +
                             std::to_string(spec.channels) + "-" + std::string(name_of(spec.type)) + "-" +
                             std::to_string(seed) + ".tif";
    if (std::filesystem::exists(folder_.path() / name)) return folder_.path() / name;
    return save(name, Image::of_pattern(spec, Pattern::noise, seed));
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace sepconv::test
