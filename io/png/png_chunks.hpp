// The chunks of a PNG file as far as libpng is not needed for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/byte_file.hpp"
#include "io/metadata.hpp"

namespace sepconv {

/// What libpng holds however small the image: deflate's window and tables, buffers.
inline constexpr std::int64_t kPngCodecBytes = std::int64_t{1} << 20;
/// For a side: what PNG's 31 bits hold.
inline constexpr std::uint32_t kPngMaxLength = 0x7FFFFFFF;

struct PngChunks {
  /// The file up to its pixels, without the chunks that libpng has no say in: what is left tells it the kind
  /// of the image and the ICC profile.
  std::vector<std::byte> head;
  bool has_profile = false;      ///< in the head
  std::int64_t pixel_bytes = 0;  ///< compressed
  std::int64_t images =
      1;              ///< those of an animation, and the one that is shown where it is not; libpng reads that
  Metadata metadata;  ///< but for the profile
  std::vector<std::string> warnings;
};

/// Follows the chunks to the end of the image. Throws IoError for a file that ends before.
PngChunks read_png_chunks(const InputFile& file);

/// Keywords of texts (11.3.3.1) and where they go.
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
