// Common parts of formats that cannot be streamed: a reader that decodes the whole image at the first read
// and buffers it, and a writer that buffers the whole image and encodes it at the end.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_file.hpp"
#include "io/formats.hpp"
#include "io/picture_colours.hpp"

namespace sepconv {

/// Larger ICC profiles and texts are ignored. The limits bound the memory that a file can make the process
/// allocate.
inline constexpr std::int64_t kMaxProfileBytes = std::int64_t{8} << 20;
inline constexpr std::int64_t kMaxTextBytes = std::int64_t{1} << 20;

/// Properties of an image before decoding. Three channels are RGB; a fourth is alpha.
struct BufferedSource {
  ImageSpec spec;
  std::string description;
  Metadata metadata;
  std::vector<std::string> warnings;
  std::int64_t decoder_bytes = 0;  ///< upper bound of the decoder's memory besides the image
  bool is_jpeg = false;
  std::optional<Chroma> chroma{};  ///< as SourceLayout::chroma
  /// Warnings that are found while decoding, in addition to SourceLayout::warnings; may be null.
  std::shared_ptr<std::vector<std::string>> found{};
};
/// Decodes the image into contiguous rows. Throws IoError.
using DecodeImage = std::function<void(const InputFile& file, const PixelView& out)>;
std::unique_ptr<Reader> make_buffered_reader(InputFile file, BufferedSource source, DecodeImage decode);

/// Limits of a format.
struct BufferedFormat {
  std::string_view name;
  bool u16;
  std::string_view channels;  ///< supported numbers of channels, as digits
  std::int64_t longest_side;
  unsigned metadata = 0;            ///< sum of MetadataKinds
  std::string_view other = ".tif";  ///< suggested alternative in error messages
};
struct BufferedSink {
  std::vector<std::string> warnings;
  std::int64_t encoder_bytes = 0;  ///< upper bound of the encoder's memory besides the image
  std::int64_t min_bytes = 0;      ///< minimum size of the file
  std::string kind{};              ///< variant of the format, such as " of quality 90"; may be empty
};
/// Writes the whole file. May overwrite the image's memory. Throws IoError.
using EncodeImage = std::function<void(OutputFile& file, const PixelView& image)>;

/// Throws InvalidArgument if the format cannot store such an image.
void check_buffered_spec(const std::filesystem::path& path, const ImageSpec& spec,
                         const BufferedFormat& format, const Metadata& metadata);
/// Throws InvalidArgument if viewers would display the file as a different picture.
void check_picture(const std::filesystem::path& path, const ImageSpec& spec, const BufferedFormat& format,
                   const Metadata& metadata);

/// A result and the picture that is encoded from it.
struct BufferedPicture {
  ImageSpec result, spec;
  PictureColours colours;
  CreateOptions options;  ///< with the metadata and warnings of the picture
};
/// Calls check_buffered_spec() and check_picture(). Throws InvalidArgument.
BufferedPicture make_buffered_picture(const std::filesystem::path& path, const ImageSpec& result,
                                      const BufferedFormat& format, const CreateOptions& options);

/// Checks the target. Warnings are those of the sink, of the options, and of metadata that the format cannot
/// store, in this order.
std::unique_ptr<Writer> make_buffered_writer(const std::filesystem::path& path, const BufferedFormat& format,
                                             BufferedPicture picture, BufferedSink sink, EncodeImage encode);

/// Bytes of memory that the metadata use.
std::int64_t buffered_bytes(const Metadata& metadata) noexcept;

}  // namespace sepconv
