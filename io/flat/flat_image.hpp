// Images stored uncompressed in contiguous rows, as in NPY and raw files. Rectangles are read and written at
// offsets, directly between the file and the caller's memory.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/byte_file.hpp"
#include "io/formats.hpp"
#include "io/reader.hpp"
#include "io/writer.hpp"

namespace sepconv {

/// Strides in elements. All are positive. The pair of a complex number is one element.
struct Strides {
  std::int64_t row = 0, col = 0, channel = 1;
};

/// Offset, shape and type of the pixels of a file.
struct FlatImage {
  ImageSpec spec;
  std::int64_t offset = 0;  ///< of the first pixel, in bytes
  bool big_endian = false;
  std::string description;  ///< for SourceLayout
  bool is_image = true;     ///< if false, a tensor viewed as an image, without limits of sides and channels
  std::vector<std::string> warnings{};  ///< for SourceLayout
  std::optional<SampleType> stored{};   ///< unset: spec.type
  std::optional<Strides> strides{};     ///< unset: contiguous rows

  SampleType element() const noexcept { return stored.value_or(SampleType(spec.type)); }
  /// Channels in elements: half of spec.channels for complex numbers.
  std::int64_t channels() const noexcept { return spec.channels / element().parts(); }
  Strides steps() const noexcept {
    return strides.value_or(Strides{spec.extent.cols * channels(), channels(), 1});
  }
  bool is_dense() const noexcept {
    const auto [row, col, channel] = steps();
    return col == channels() && row == spec.extent.cols * col && (channel == 1 || col == 1);
  }
  /// Number of elements from the first to the last, inclusive.
  std::int64_t span() const noexcept {
    const auto [row, col, channel] = steps();
    return (spec.extent.rows - 1) * row + (spec.extent.cols - 1) * col + (channels() - 1) * channel + 1;
  }
};

/// Throws InvalidArgument unless sides and channels are positive and within the limits and the end of the
/// pixels fits in 64 bits.
void check_flat_image(const FlatImage& image, const std::filesystem::path& path);

/// The layout of such an image in a file of this name.
SourceLayout flat_source_layout(const FlatImage& image, const std::filesystem::path& path);
/// Throws IoError if the file is smaller than its pixels.
std::unique_ptr<Reader> make_flat_reader(InputFile file, FlatImage image);
/// Reader for elements that need conversion or reordering. Checks nothing.
std::unique_ptr<Reader> make_element_reader(InputFile file, FlatImage image);

/// Writes `header` and then the pixels, as layout.stored if set, in the machine's byte order. `is_image` as
/// in FlatImage.
std::unique_ptr<Writer> make_flat_writer(std::unique_ptr<OutputFile> file, const ImageSpec& spec,
                                         std::vector<std::byte> header, SinkLayout layout,
                                         bool is_image = true);

/// Writes one image of a file whose header is written by the caller; its pixels begin at `offset`. finish()
/// does not rename the file to its target.
std::unique_ptr<Writer> make_flat_part_writer(std::shared_ptr<OutputFile> file, const ImageSpec& spec,
                                              std::int64_t offset, SinkLayout layout);

/// The layout of such a file, with a warning about the metadata that it cannot store.
SinkLayout flat_layout(std::string description, const CreateOptions& options);

}  // namespace sepconv
