// Broadcasting, as in NumPy: an image with one row, column or channel is repeated to the shape of another.
#pragma once

#include <memory>

#include "io/reader.hpp"

namespace sepconv {

/// Whether each of the rows, columns and channels of `part` equals the given number or is 1.
bool is_broadcastable_to(const ImageSpec& part, Extent extent, std::int64_t channels) noexcept;

/// Returns `part` with its single row, column or channel repeated to this extent and these channels. Returns
/// `part` itself if the shapes are equal. Allocates no memory beyond that of `part`. Throws InvalidArgument
/// unless is_broadcastable_to().
std::unique_ptr<Reader> make_broadcast_reader(std::unique_ptr<Reader> part, Extent extent,
                                              std::int64_t channels);

}  // namespace sepconv
