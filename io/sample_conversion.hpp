// Elements as files have them, in this machine's byte order, made pixels and back. Private to io.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "core/geometry.hpp"
#include "io/sample_type.hpp"

namespace sepconv {

/// Elements one after another, `step` from one to the next, which is 1 in a dense row; those of a packed type
/// begin at bit `first_bit` of `data`, 0 for others, and are dense.
struct SampleFormat {
  const std::byte* data;
  std::int64_t step = 1;
  int first_bit = 0;
};

/// Reads `count` elements, each into type.parts() elements of type.pixels(), of which the first ones are
/// `to_step` of these apart. Returns which was the first that has no such number, or `count`.
std::int64_t load_elements(SampleType type, const SampleFormat& from, std::int64_t count, std::byte* to,
                           std::int64_t to_step) noexcept;

/// The way back, `from_step` counting likewise, to dense elements of a type that is not packed: integers are
/// rounded half to even and saturate, NaN becomes 0; f16 rounds half to even.
void store_elements(SampleType type, const std::byte* from, std::int64_t from_step, std::int64_t count,
                    std::byte* to) noexcept;

/// Brings the words of elements from the other byte order to this machine's, in place. Not of packed types.
void swap_elements(SampleType type, std::span<std::byte> bytes) noexcept;

/// What is said of an integer that f64 has no number for.
[[noreturn]] void throw_no_number(const std::filesystem::path& path, SampleType type, std::int64_t row,
                                  std::int64_t col, std::int64_t channel);

}  // namespace sepconv
