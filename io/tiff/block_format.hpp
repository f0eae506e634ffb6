// Description of a block for a codec: a tile or a strip, of one plane if channels are stored in separate
// planes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/image.hpp"
#include "io/sample_type.hpp"

namespace sepconv {

/// Fields have the values of the TIFF tags of the same names.
struct BlockFormat {
  Extent extent;
  std::int64_t channels = 1;  ///< of the block, in elements: 1 if planar
  SampleType type = PixelType::u8;
  std::uint16_t compression = 1;
  std::uint16_t predictor = 1;
  std::uint16_t photometric = 1;
  std::uint16_t fill_order = 1;
  std::array<std::uint16_t, 2> subsampling{2, 2};
  std::vector<std::byte> jpeg_tables;
  bool big_endian = false;
  std::optional<int> level;  ///< of an encoder, if it has levels; not stored in files

  /// Whether channels 1 and 2 are signed although the type is unsigned: CIE L*a*b* (TIFF 6.0, section 23).
  /// Pixels in memory have half of the range added, so that arithmetic works.
  bool has_signed_ab() const noexcept {
    constexpr std::uint16_t kCieLab = 8;
    return photometric == kCieLab && type.kind == SampleType::Kind::natural && type.is_pixels();
  }

  std::int64_t row_bytes() const noexcept { return type.bytes_of(extent.cols * channels); }
  std::int64_t bytes() const noexcept { return extent.rows * row_bytes(); }

  /// Upper bound of the encoded bytes of a block: LZW takes at most 12 bits for 8, JPEG 18 for a coefficient.
  /// The rest is headers.
  std::int64_t max_encoded_bytes() const noexcept;
  /// Lower bound of the encoded bytes of a block, so that a few bytes cannot claim too many pixels.
  std::int64_t min_encoded_bytes() const noexcept;
  /// Upper bound of the decoded bytes of a block: some writers append data, such as a filled-up last strip. A
  /// longer stream is an error, so that a few bytes can neither keep a thread busy nor require a large
  /// window.
  std::int64_t max_decoded_bytes() const noexcept { return bytes() + (512 << 10); }
};

/// The value of the tag SampleFormat.
std::uint16_t sample_format(SampleType type) noexcept;

/// Whether libtiff supports predictors for this codec.
bool has_predictor(std::uint16_t compression) noexcept;

}  // namespace sepconv
