// Pixels on their way between blocks, as a file stores them, and views, with all channels interleaved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sepconv/core/image.hpp"
#include "sepconv/io/tiff/block_format.hpp"

namespace sepconv {

/// Which channels a block holds.
inline constexpr std::int64_t kAllChannels = -1;

/// Copies stored rows, `pitch_bytes` apart, to the channel `channel` of `to`, or to all of them.
void copy_from_block(const std::byte* block, std::int64_t pitch_bytes, std::int64_t channel,
                     const PixelView& to) noexcept;

/// The way back: copies the channel `channel` of `from`, or all of them, to rows `pitch_bytes` apart.
void copy_to_block(const ConstPixelView& from, std::int64_t channel, std::byte* block,
                   std::int64_t pitch_bytes) noexcept;

/// Fills a block of this extent beyond the `filled` pixels at its top left by repeating the last column and
/// row, which costs an encoder least.
void pad_block(std::byte* block, const BlockFormat& format, Extent filled) noexcept;

/// Sets channel `channel` of all pixels, or all of them, to zero.
void clear_pixels(const PixelView& pixels, std::int64_t channel) noexcept;

/// Uncompressed bytes as a file of this format stores them, made this machine's own in place.
void make_native(std::span<std::byte> bytes, const BlockFormat& format) noexcept;
/// Whether make_native does nothing.
bool is_native(const BlockFormat& format) noexcept;

}  // namespace sepconv
