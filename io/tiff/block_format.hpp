// What a codec must know of a block: a tile or a strip, of one plane when channels lie in planes of their
// own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/image.hpp"
#include "io/sample_type.hpp"

namespace sepconv {

/// Fields hold the values of the TIFF tags of the same names.
struct BlockFormat {
  Extent extent;
  std::int64_t channels = 1;  ///< in the block, those of its elements: 1 when planar
  SampleType type = PixelType::u8;
  std::uint16_t compression = 1;
  std::uint16_t predictor = 1;
  std::uint16_t photometric = 1;
  std::uint16_t fill_order = 1;
  std::array<std::uint16_t, 2> subsampling{2, 2};
  std::vector<std::byte> jpeg_tables;
  bool big_endian = false;
  std::optional<int> level;  ///< of an encoder that has levels: a file does not tell it

  /// Channels 1 and 2 are signed in elements that are not: CIE L*a*b* (TIFF 6.0, section 23). Pixels have the
  /// same numbers with half of the range added, so that they can be computed with.
  bool has_signed_ab() const noexcept {
    constexpr std::uint16_t kCieLab = 8;
    return photometric == kCieLab && type.kind == SampleType::Kind::natural && type.is_pixels();
  }

  std::int64_t row_bytes() const noexcept { return type.bytes_of(extent.cols * channels); }
  std::int64_t bytes() const noexcept { return extent.rows * row_bytes(); }

  /// More encoded bytes than any encoder makes of a block: LZW takes at most 12 bits for 8, JPEG 18 for a
  /// coefficient. The rest is headers.
  std::int64_t max_encoded_bytes() const noexcept;
  /// Fewer encoded bytes than any encoder needs for a block: the bound that lets a few bytes claim only so
  /// many pixels.
  std::int64_t min_encoded_bytes() const noexcept;
  /// More than writers leave behind a block's pixels, such as a last strip that is filled up: a stream that
  /// holds more is an error, so that a few bytes cannot keep a thread busy, nor ask for a window.
  std::int64_t max_decoded_bytes() const noexcept { return bytes() + (512 << 10); }
};

/// The value of the tag SampleFormat.
std::uint16_t sample_format(SampleType type) noexcept;

/// Whether libtiff's predictors go with this codec.
bool has_predictor(std::uint16_t compression) noexcept;

}  // namespace sepconv
