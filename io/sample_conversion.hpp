// Converts elements of files (in the machine's byte order) to pixels and back. Private to io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/geometry.hpp"
#include "io/sample_type.hpp"

namespace sepconv {

/// Location of elements in memory, `step` elements apart (1 if dense). Elements of a packed type are dense
/// and begin at bit `first_bit` of `data`, which is 0 for other types.
struct SampleFormat {
  const std::byte* data;
  std::int64_t step = 1;
  int first_bit = 0;
};

/// Converts `count` elements to pixels. Each gives type.parts() values of type.pixels(), and the first values
/// of consecutive elements are `to_step` values apart. Returns the index of the first element that the pixel
/// type cannot represent, or `count`.
std::int64_t load_elements(SampleType type, const SampleFormat& from, std::int64_t count, std::byte* to,
                           std::int64_t to_step) noexcept;

/// Converts pixels, `from_step` values apart, to dense elements of a type that is not packed. Integers are
/// rounded half to even and saturate; NaN becomes 0. f16 rounds half to even.
void store_elements(SampleType type, const std::byte* from, std::int64_t from_step, std::int64_t count,
                    std::byte* to) noexcept;

/// Swaps the byte order of elements in place. Not for packed types.
void swap_elements(SampleType type, std::span<std::byte> bytes) noexcept;

/// Throws IoError about an integer that f64 cannot represent.
[[noreturn]] void throw_unrepresentable(const std::filesystem::path& path, SampleType type, std::int64_t row,
                                        std::int64_t col, std::int64_t channel);

}  // namespace sepconv
