// Plain loops on the host.
#include <fmt/format.h>

#include <algorithm>

#include "bench/transpose/variants.hpp"
#include "core/error.hpp"

namespace sepconv {
namespace {

/// Strides in the output, in elements, along the axes of the input.
TensorExtent output_strides(const TensorExtent& extent, const Permutation& permutation) {
  const TensorExtent out = permuted(extent, permutation);
  const TensorExtent strides{out[1] * out[2], out[2], 1};
  const Permutation inverse = permutation.inverse();
  TensorExtent result{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    result[axis] = strides[static_cast<std::size_t>(inverse.axes[axis])];
  return result;
}

/// Permutes the input's rows [first, last), numbered along its first two axes.
template <class T>
void permute_rows(const TensorExtent& extent, const TensorExtent& strides, const std::byte* in,
                  std::byte* out, std::int64_t first, std::int64_t last) {
  const T* source = reinterpret_cast<const T*>(in) + first * extent[2];
  for (std::int64_t row = first; row < last; ++row) {
    T* const destination =
        reinterpret_cast<T*>(out) + row / extent[1] * strides[0] + row % extent[1] * strides[1];
    for (std::int64_t i = 0; i < extent[2]; ++i) destination[i * strides[2]] = *source++;
  }
}

template <class T>
void permute_all(const TensorExtent& extent, const Permutation& permutation, const std::byte* in,
                 std::byte* out, Executor& executor) {
  const TensorExtent strides = output_strides(extent, permutation);
  const std::int64_t rows = extent[0] * extent[1];
  const int threads = executor.concurrency();
  const std::int64_t chunks = threads == 1 ? 1 : std::min<std::int64_t>(rows, std::int64_t{4} * threads);
  executor.for_each(chunks, [&](std::int64_t chunk, int) {
    permute_rows<T>(extent, strides, in, out, rows * chunk / chunks, rows * (chunk + 1) / chunks);
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
