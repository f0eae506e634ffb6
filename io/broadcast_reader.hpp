// An image that is less than another along some of its sides, and repeats along them.
#pragma once

#include <memory>

#include "io/reader.hpp"

namespace sepconv {

/// Whether `part` is as large as this along rows, columns and channels, or 1.
bool repeats_to(const ImageSpec& part, Extent extent, std::int64_t channels) noexcept;

/// `part` as an image of this extent and these channels: its only row, column or channel in all places of
/// that side. `part` itself where it is that image. Holds nothing besides what it does. Throws InvalidArgument
/// unless it repeats_to() that.
std::unique_ptr<Reader> make_broadcast_reader(std::unique_ptr<Reader> part, Extent extent,
                                              std::int64_t channels);

}  // namespace sepconv
