// Prefix codes as deflate has them (RFC 1951, 3.2.2): canonical, told by their lengths alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace sepconv::deflate {

/// No code has more.
inline constexpr unsigned kMostBits = 15;

/// The symbol, among those of bytes and lengths, that follows a block's last.
inline constexpr std::size_t kEndOfBlock = 256;

/// Symbols that tell how many bits codes have, in the order in which the bits of their own codes are told
/// (RFC 1951, 3.2.7).
inline constexpr std::array<std::uint8_t, 19> kBitsSymbols{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                           11, 4,  12, 3, 13, 2, 14, 1, 15};

/// Bits of the code of each symbol, at most `most_bits`, 0 for symbols that are not counted; as short in all
/// as Huffman's where none is longer than that (in-place method of Moffat and Katajainen, 1995), near it
/// otherwise. One counted symbol gets one bit. At most 288 symbols, whose counts sum to less than 2^23.
void choose_lengths(std::span<const std::uint32_t> counts, int most_bits, std::span<std::uint8_t> lengths);

/// The codes of these lengths, lowest bit first as deflate writes them.
void assign_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

}  // namespace sepconv::deflate
