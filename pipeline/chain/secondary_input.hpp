// A second image next to a stage's input: what it is, its readers, and the chain that has its pixels at hand.
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

/// How the text begins of an image that is in memory.
inline constexpr std::string_view kInMemoryText = "(pixels in memory";

/// A file, or pixels in memory: what options of stages take. It has the size of the input, or is one row, one
/// column or one pixel, which repeat, and its channels or one; or it is a set of such, one for each of the
/// input's.
struct SecondaryImage {
  std::filesystem::path file{};
  /// Where there is no file. They outlive the stage, and stay as they are.
  ConstPixelView pixels{};
  /// For what the pixels are, if it is to live as long as the stage.
  std::shared_ptr<const void> owner{};
  /// Several images of pixels, which lie one below the other in them, count along these axes.
  RasterAxes rasters{};

  SecondaryImage() = default;
  SecondaryImage(std::filesystem::path name) : file(std::move(name)) {}
  SecondaryImage(std::string name) : file(std::move(name)) {}
  SecondaryImage(const char* name) : file(name) {}
  SecondaryImage(const ConstPixelView& view, std::shared_ptr<const void> shared_owner = {})
      : pixels(view), owner(std::move(shared_owner)) {}
  SecondaryImage(const PixelView& view) : pixels(view) {}

  bool empty() const noexcept { return file.empty() && pixels.data == nullptr; }
  /// The file's name; of pixels what they are and where they lie, which no text becomes again.
  std::string text() const;
};

/// A second image while a chain is planned or run.
struct SecondaryInput {
  std::size_t stage;               ///< that it belongs to, whose input it lies over
  std::unique_ptr<Reader> reader;  ///< of an image of that input's extent and channels
};

/// Those of all stages that have one, in their order, for a chain of these specs. Reads headers only. Throws
/// IoError and InvalidArgument.
std::vector<SecondaryInput> open_secondaries(const Chain& chain, const std::vector<ImageSpec>& specs);

/// The chain whose stages find these pixels of their second images, in that order. They outlive it. What the
/// chain computes then is to need no more than they hold.
Chain bind_secondaries(const Chain& chain, std::span<const ConstRegion> secondaries);

}  // namespace sepconv
