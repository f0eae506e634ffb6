// The plain loops of a host.
#include <fmt/format.h>

#include <algorithm>

#include "bench/transpose/ladder.hpp"
#include "core/error.hpp"

namespace sepconv {
namespace {

/// Steps in the output, in elements, along the axes of the input.
TensorExtent out_steps(const TensorExtent& extent, const Permutation& permutation) {
  const TensorExtent out = permuted(extent, permutation);
  const TensorExtent steps{out[1] * out[2], out[2], 1};
  const Permutation inverse = permutation.inverse();
  TensorExtent result{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    result[axis] = steps[static_cast<std::size_t>(inverse.axes[axis])];
  return result;
}

/// The input's rows [first, last), numbered along its first two axes.
template <class T>
void permute_rows(const TensorExtent& extent, const TensorExtent& steps, const std::byte* in, std::byte* out,
                  std::int64_t first, std::int64_t last) {
  const T* from = reinterpret_cast<const T*>(in) + first * extent[2];
  for (std::int64_t row = first; row < last; ++row) {
    T* const to = reinterpret_cast<T*>(out) + row / extent[1] * steps[0] + row % extent[1] * steps[1];
    for (std::int64_t i = 0; i < extent[2]; ++i) to[i * steps[2]] = *from++;
  }
}

template <class T>
void permute_all(const TensorExtent& extent, const Permutation& permutation, const std::byte* in,
                 std::byte* out, Executor& executor) {
  const TensorExtent steps = out_steps(extent, permutation);
  const std::int64_t rows = extent[0] * extent[1];
  const int threads = executor.concurrency();
  const std::int64_t pieces = threads == 1 ? 1 : std::min<std::int64_t>(rows, std::int64_t{4} * threads);
  executor.for_each(pieces, [&](std::int64_t piece, int) {
    permute_rows<T>(extent, steps, in, out, rows * piece / pieces, rows * (piece + 1) / pieces);
  });
}

}  // namespace

void permute_loop(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                  const std::byte* in, std::byte* out, Executor& executor) {
  if (std::ranges::any_of(extent, [](std::int64_t length) { return length < 1; })) return;
  switch (element_bytes) {
    case 1:
      return permute_all<std::uint8_t>(extent, permutation, in, out, executor);
    case 2:
      return permute_all<std::uint16_t>(extent, permutation, in, out, executor);
    case 4:
      return permute_all<std::uint32_t>(extent, permutation, in, out, executor);
    case 8:
      return permute_all<std::uint64_t>(extent, permutation, in, out, executor);
    default:
      throw InvalidArgument(
          fmt::format("the plain loops have no elements of {} bytes: give 1, 2, 4 or 8", element_bytes));
  }
}

}  // namespace sepconv
