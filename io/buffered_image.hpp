// What files that cannot be streamed have in common: a reader that decodes everything at the first read and
// holds it, a writer that collects everything and encodes it at the end.
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

/// ICC profiles and texts beyond are left out: no profile is so large, and a file must not decide what it
/// takes.
inline constexpr std::int64_t kMaxProfileBytes = std::int64_t{8} << 20;
inline constexpr std::int64_t kMaxTextBytes = std::int64_t{1} << 20;

/// What is known of an image before it is decoded. Three channels are RGB, a fourth is alpha.
struct BufferedSource {
  ImageSpec spec;
  std::string description;
  Metadata metadata;
  std::vector<std::string> warnings;
  std::int64_t decoder_bytes = 0;  ///< bound of what decoding takes besides the image
  bool is_jpeg = false;
  std::optional<Chroma> chroma{};  ///< as SourceLayout::chroma
  /// Where decoding leaves what SourceLayout::warnings cannot say; may be null.
  std::shared_ptr<std::vector<std::string>> found{};
};
/// Fills the image's rows, which lie one behind the other. Throws IoError.
using DecodeImage = std::function<void(const InputFile& file, const PixelView& out)>;
std::unique_ptr<Reader> make_buffered_reader(InputFile file, BufferedSource source, DecodeImage decode);

/// What a format holds of ours.
struct BufferedFormat {
  std::string_view name;
  bool u16;
  std::string_view channels;  ///< digits
  std::int64_t longest_side;
  unsigned metadata = 0;            ///< sum of MetadataKinds
  std::string_view other = ".tif";  ///< what else to choose
};
struct BufferedSink {
  std::vector<std::string> warnings;
  std::int64_t encoder_bytes = 0;  ///< bound of what encoding takes besides the image
  std::int64_t min_bytes = 0;      ///< that the file will have
  std::string kind{};  ///< which of the files that the format can be, " of quality 90"; empty: there is one
};
/// Writes all of the file; may use the image's memory for what it likes. Throws IoError.
using EncodeImage = std::function<void(OutputFile& file, const PixelView& image)>;

/// Throws InvalidArgument for what the format cannot hold, of which this is known.
void check_buffered_spec(const std::filesystem::path& path, const ImageSpec& spec,
                         const BufferedFormat& format, const Metadata& metadata);
/// Throws InvalidArgument for what a viewer would take for another picture.
void check_picture(const std::filesystem::path& path, const ImageSpec& spec, const BufferedFormat& format,
                   const Metadata& metadata);

/// A result as the picture that the format holds: what the writer is given, and what is encoded.
struct BufferedPicture {
  ImageSpec result, spec;
  PictureColours colours;
  CreateOptions options;  ///< with metadata and warnings that are true of the picture
};
/// Checks both. Throws InvalidArgument.
BufferedPicture buffered_picture(const std::filesystem::path& path, const ImageSpec& result,
                                 const BufferedFormat& format, const CreateOptions& options);

/// Checks the target. The sink's warnings come before those of the options and about what of the metadata the
/// format has no place for.
std::unique_ptr<Writer> make_buffered_writer(const std::filesystem::path& path, const BufferedFormat& format,
                                             BufferedPicture picture, BufferedSink sink, EncodeImage encode);

/// Memory behind profile and texts.
std::int64_t buffered_bytes(const Metadata& metadata) noexcept;

}  // namespace sepconv
