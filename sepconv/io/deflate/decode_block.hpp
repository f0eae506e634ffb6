// The symbols of a block of deflate, decoded.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sepconv/io/deflate/bit_source.hpp"
#include "sepconv/io/deflate/decoding_tables.hpp"

namespace sepconv::deflate {

/// Where decoded bytes go: from `begin` on, of which those before `at` are there.
struct ByteSink {
  std::byte *begin, *at, *end;
};

/// Appends a block's bytes, up to its end; false: it is broken, or has more than there is room for. Reads
/// and writes within `source` and `sink` only, whatever the bits.
bool decode_block(const LengthTable& lengths, const DistanceTable& distances, BitSource& source,
                  ByteSink& sink) noexcept;

}  // namespace sepconv::deflate
