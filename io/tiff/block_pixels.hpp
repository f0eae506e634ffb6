// Copies pixels between blocks, as a file stores them, and views with interleaved channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/image.hpp"
#include "io/tiff/block_format.hpp"

namespace sepconv {

/// As a channel: all channels, interleaved.
inline constexpr std::int64_t kAllChannels = -1;

/// Position of an element: a pixel of a view and a channel of elements.
struct ElementPosition {
  std::int64_t row, col, channel;
};

/// Converts stored rows, `pitch_bytes` apart, whose first elements begin at bit `first_bit`, to channel
/// `channel` of `to`, or to all channels. Returns the position of the first element that pixels cannot
/// represent, or null.
std::optional<ElementPosition> copy_from_block(const std::byte* block, SampleType type,
                                               std::int64_t pitch_bytes, std::int64_t channel,
                                               const PixelView& to, int first_bit = 0) noexcept;

/// The inverse: stores channel `channel` of `from`, or all channels, in rows `pitch_bytes` apart.
void copy_to_block(const ConstPixelView& from, SampleType type, std::int64_t channel, std::byte* block,
                   std::int64_t pitch_bytes) noexcept;

/// Adds half of the range to a* and b*, or subtracts it, in dense elements of a format that has_signed_ab():
/// elements of one channel, or of all, beginning with channel 0.
void shift_ab(const BlockFormat& format, std::int64_t channel, std::int64_t count,
              std::byte* elements) noexcept;

/// Views interleaved elements as pixels of one element each.
template <class Byte>
BasicPixelView<Byte> as_elements(const BasicPixelView<Byte>& view, SampleType type) noexcept {
  const std::int64_t elements = view.channels / type.parts();
  return {
      view.data, {view.extent.rows, view.extent.cols * elements}, type.parts(), view.type, view.pitch_bytes};
}

/// Pads a block beyond the `filled` pixels at its top left by repeating the last column and row, which
/// encodes to the fewest bytes.
void pad_block(std::byte* block, const BlockFormat& format, Extent filled) noexcept;

/// Sets channel `channel`, in elements of this type, or all channels of all pixels to `value`.
void clear_pixels(const PixelView& pixels, SampleType type, std::int64_t channel, double value) noexcept;

/// Converts uncompressed bytes of a file of this format to native byte and bit order in place.
void make_native(std::span<std::byte> bytes, const BlockFormat& format) noexcept;

}  // namespace sepconv
