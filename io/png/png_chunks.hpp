// Reads PNG chunks without libpng.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/byte_file.hpp"
#include "io/metadata.hpp"

namespace sepconv {

/// libpng's memory for an image of any size: deflate's window and tables, buffers.
inline constexpr std::int64_t kPngCodecBytes = std::int64_t{1} << 20;
/// Maximum width and height: PNG has 31 bits for each.
inline constexpr std::uint32_t kPngMaxLength = 0x7FFFFFFF;

struct PngChunks {
  /// The file up to its pixels, with only the chunks from which libpng reads the kind of the image and the
  /// ICC profile.
  std::vector<std::byte> head;
  bool has_profile = false;      ///< `head` contains an ICC profile
  std::int64_t pixel_bytes = 0;  ///< compressed
  /// Frames of an animation, and its default image if that is not a frame. libpng reads the default image.
  std::int64_t images = 1;
  Metadata metadata;  ///< without the profile
  std::vector<std::string> warnings;
};

/// Reads the chunks to the end of the image. Throws IoError if the file ends earlier.
PngChunks read_png_chunks(const InputFile& file);

/// Keywords of text chunks (11.3.3.1) and the fields that store them.
struct PngText {
  const char* keyword;
  std::string Metadata::*text;
};
inline constexpr PngText kPngTexts[] = {{"Description", &Metadata::description},
                                        {"Software", &Metadata::software},
                                        {"Creation Time", &Metadata::date_time},
                                        {"Author", &Metadata::artist},
                                        {"Copyright", &Metadata::copyright}};

}  // namespace sepconv
