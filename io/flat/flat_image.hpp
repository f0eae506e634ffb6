// Pixels that lie in a file row after row without gaps: what NPY and raw files have in common. Rectangles are
// read and written by offset, straight between the file and the caller's memory.
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

/// Elements from one row, pixel and channel to the next, where they are not those of rows one behind the
/// other. All positive; pairs of a complex type are one element.
struct Strides {
  std::int64_t row = 0, col = 0, channel = 1;
};

/// Where the pixels of a file are and how they are stored.
struct FlatImage {
  ImageSpec spec;
  std::int64_t offset = 0;  ///< of the first pixel, in bytes
  bool big_endian = false;
  std::string description;  ///< for SourceLayout
  bool is_image = true;     ///< else elements of a tensor seen as one, with any sides and channels
  std::vector<std::string> warnings{};  ///< for SourceLayout
  std::optional<SampleType> stored{};   ///< unset: spec.type
  std::optional<Strides> strides{};     ///< unset: rows one behind the other

  SampleType element() const noexcept { return stored.value_or(SampleType(spec.type)); }
  /// Channels of elements: half as many as spec has where these are complex.
  std::int64_t channels() const noexcept { return spec.channels / element().parts(); }
  Strides steps() const noexcept {
    return strides.value_or(Strides{spec.extent.cols * channels(), channels(), 1});
  }
  bool is_dense() const noexcept {
    const auto [row, col, channel] = steps();
    return col == channels() && row == spec.extent.cols * col && (channel == 1 || col == 1);
  }
  /// Elements from the first to the last, both counted.
  std::int64_t span() const noexcept {
    const auto [row, col, channel] = steps();
    return (spec.extent.rows - 1) * row + (spec.extent.cols - 1) * col + (channels() - 1) * channel + 1;
  }
};

/// Throws InvalidArgument unless sides and channels are positive and bounded and all bytes, from offset on,
/// count in 64 bits.
void check_flat_image(const FlatImage& image, const std::filesystem::path& path);

/// What a source says of such an image in a file of this name.
SourceLayout flat_source_layout(const FlatImage& image, const std::filesystem::path& path);
/// Throws IoError when the file is smaller than the pixels it is said to hold.
std::unique_ptr<Reader> make_flat_reader(InputFile file, FlatImage image);
/// That of elements that are not pixels as they are, or in another order. Checks nothing.
std::unique_ptr<Reader> make_element_reader(InputFile file, FlatImage image);

/// Writes `header` and then the pixels, as layout.stored if that is set, in this machine's byte order.
/// `is_image` as in FlatImage.
std::unique_ptr<Writer> make_flat_writer(std::unique_ptr<OutputFile> file, const ImageSpec& spec,
                                         std::vector<std::byte> header, SinkLayout layout,
                                         bool is_image = true);

/// A part of a file whose header somebody else writes: its pixels begin at `offset`. finish() leaves the file
/// without its name.
std::unique_ptr<Writer> make_flat_part_writer(std::shared_ptr<OutputFile> file, const ImageSpec& spec,
                                              std::int64_t offset, SinkLayout layout);

/// The layout of such a file: of the metadata that it is to be made with it keeps nothing.
SinkLayout flat_layout(std::string description, const CreateOptions& options);

}  // namespace sepconv
