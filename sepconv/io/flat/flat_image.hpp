// Pixels that lie in a file row after row without gaps: what NPY and raw files have in common. Rectangles are
// read and written by offset, straight between the file and the caller's memory.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sepconv/io/byte_file.hpp"
#include "sepconv/io/formats.hpp"
#include "sepconv/io/reader.hpp"
#include "sepconv/io/writer.hpp"

namespace sepconv {

/// Where the pixels of a file are and how they are stored.
struct FlatImage {
  ImageSpec spec;
  std::int64_t offset = 0;  ///< of the first pixel, in bytes
  bool big_endian = false;
  std::string description;  ///< for SourceLayout
  bool is_image = true;     ///< else elements of a tensor seen as one, with any sides and channels
  std::vector<std::string> warnings{};  ///< for SourceLayout
};

/// Throws InvalidArgument unless sides and channels are positive and bounded and all bytes, from offset on,
/// count in 64 bits.
void check_flat_image(const FlatImage& image, const std::filesystem::path& path);

/// Throws IoError when the file is smaller than the pixels it is said to hold.
std::unique_ptr<Reader> make_flat_reader(InputFile file, FlatImage image);

/// Writes `header` and then the pixels, in this machine's byte order. `is_image` as in FlatImage.
std::unique_ptr<Writer> make_flat_writer(std::unique_ptr<OutputFile> file, const ImageSpec& spec,
                                         std::vector<std::byte> header, SinkLayout layout,
                                         bool is_image = true);

/// The layout of such a file: of the metadata that it is to be made with it keeps nothing.
SinkLayout flat_layout(std::string description, const CreateOptions& options);

}  // namespace sepconv
