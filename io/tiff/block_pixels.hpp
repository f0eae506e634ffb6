// Pixels on their way between blocks, as a file stores them, and views, with all channels interleaved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/image.hpp"
#include "io/tiff/block_format.hpp"

namespace sepconv {

/// Which channels a block holds.
inline constexpr std::int64_t kAllChannels = -1;

/// A pixel of a view and one of its channels, as elements have them.
struct Place {
  std::int64_t row, col, channel;
};

/// Makes pixels of stored rows, `pitch_bytes` apart, of which the first elements begin at bit `first_bit`:
/// the channel `channel` of `to`, or all of them. Returns where an element has no number among pixels.
std::optional<Place> copy_from_block(const std::byte* block, SampleType type, std::int64_t pitch_bytes,
                                     std::int64_t channel, const PixelView& to, int first_bit = 0) noexcept;

/// The way back: stores the channel `channel` of `from`, or all of them, in rows `pitch_bytes` apart.
void copy_to_block(const ConstPixelView& from, SampleType type, std::int64_t channel, std::byte* block,
                   std::int64_t pitch_bytes) noexcept;

/// Adds half of the range to a* and b* of dense elements, or takes it off again, in a format that
/// has_signed_ab(): those of a channel, or of all, of which the first is channel 0.
void shift_ab(const BlockFormat& format, std::int64_t channel, std::int64_t count,
              std::byte* elements) noexcept;

/// Pixels of interleaved elements seen as pixels of one element each.
template <class Byte>
BasicPixelView<Byte> as_elements(const BasicPixelView<Byte>& view, SampleType type) noexcept {
  const std::int64_t elements = view.channels / type.parts();
  return {
      view.data, {view.extent.rows, view.extent.cols * elements}, type.parts(), view.type, view.pitch_bytes};
}

/// Fills a block of this extent beyond the `filled` pixels at its top left by repeating the last column and
/// row, which costs an encoder least.
void pad_block(std::byte* block, const BlockFormat& format, Extent filled) noexcept;

/// Sets channel `channel`, of elements of this type, of all pixels, or all of them, to zero.
void clear_pixels(const PixelView& pixels, SampleType type, std::int64_t channel, double value) noexcept;

/// Uncompressed bytes as a file of this format stores them, made this machine's own in place.
void make_native(std::span<std::byte> bytes, const BlockFormat& format) noexcept;

}  // namespace sepconv
