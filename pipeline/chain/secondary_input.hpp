// The second image of a stage: its description, its readers, and the chain bound to its pixels.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "io/raster_axes.hpp"

namespace sepconv {

class Chain;
class Reader;

/// Prefix of the text of an image in memory.
inline constexpr std::string_view kInMemoryPrefix = "(pixels in memory";

/// An option of a stage: a file, or pixels in memory. The image has the size of the input, or is one row,
/// column or pixel, which repeats. It has the channels of the input or one channel. It may also be a set with
/// one such image per image of the input.
struct SecondaryImage {
  std::filesystem::path file{};
  /// Used if there is no file. The pixels outlive the stage and do not change.
  ConstPixelView pixels{};
  /// Optional owner of the pixels, kept alive by the stage.
  std::shared_ptr<const void> owner{};
  /// Axes of a set of images, which are stored below one another in `pixels`.
  RasterAxes rasters{};

  SecondaryImage() = default;
  SecondaryImage(std::filesystem::path name) : file(std::move(name)) {}
  SecondaryImage(std::string name) : file(std::move(name)) {}
  SecondaryImage(const char* name) : file(name) {}
  SecondaryImage(const ConstPixelView& view, std::shared_ptr<const void> shared_owner = {})
      : pixels(view), owner(std::move(shared_owner)) {}
  SecondaryImage(const PixelView& view) : pixels(view) {}

  bool empty() const noexcept { return file.empty() && pixels.data == nullptr; }
  /// The file name, or a description of the pixels and their address, which cannot be parsed back.
  std::string text() const;
};

/// A second image of a stage while a chain is planned or run.
struct SecondaryInput {
  std::size_t stage;               ///< index of its stage
  std::unique_ptr<Reader> reader;  ///< has the extent and channels of the input of the stage
};

/// Opens the second images of all stages that have one, in the order of the stages, for a chain with these
/// specs. Reads headers only. Throws IoError and InvalidArgument.
std::vector<SecondaryInput> open_secondaries(const Chain& chain, const std::vector<ImageSpec>& specs);

/// The chain bound to these pixels of its second images, in the same order. They must outlive it and contain
/// all that later computations need.
Chain bind_secondaries(const Chain& chain, std::span<const ConstRegion> secondaries);

}  // namespace sepconv
