#include "kernels/transpose/permutation.hpp"

#include <algorithm>
#include <cstring>

#include "core/error.hpp"

namespace sepconv {

namespace {

void check_tensor(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes) {
  check_permutation(permutation);
  if (std::any_of(extent.begin(), extent.end(), [](std::int64_t length) { return length < 0; })) {
    throw InvalidArgument("the extent of a tensor must be 0 or more along every axis");
  }
  if (element_bytes < 1) throw InvalidArgument("the elements to permute must have 1 byte or more");
}

/// Consecutive dense matrices.
PermutationAsTranspose dense(const TransposeShape& shape) {
  PermutationAsTranspose result{.shape = shape};
  result.in_pitch_bytes = shape.cols * shape.element_bytes;
  result.out_pitch_bytes = shape.rows * shape.element_bytes;
  result.in_item_bytes = result.out_item_bytes = shape.rows * shape.cols * shape.element_bytes;
  return result;
}

template <class Transpose>
void permute_by(const Transpose& transpose, const TensorExtent& extent, const Permutation& permutation,
                std::int64_t element_bytes, const std::byte* in, std::byte* out) {
  const PermutationAsTranspose work = as_transpose(extent, permutation, element_bytes);
  transpose(work.shape, ConstMatrices{in, work.in_pitch_bytes, work.in_item_bytes},
            Matrices{out, work.out_pitch_bytes, work.out_item_bytes});
}

}  // namespace

void check_permutation(const Permutation& permutation) {
  const auto& all = all_permutations();
  if (std::find(all.begin(), all.end(), permutation) == all.end())
    throw InvalidArgument("the axes of a permutation must be 0, 1 and 2, each once");
}

Permutation Permutation::inverse() const noexcept {
  Permutation result;
  for (std::size_t k = 0; k < 3; ++k) result.axes[std::size_t(axes[k])] = int(k);
  return result;
}

Permutation parse_permutation(std::string_view text) {
  if (text == "0,1") return {};
  if (text == "1,0") return {{1, 0, 2}};
  for (const Permutation& permutation : all_permutations()) {
    if (text == to_string(permutation)) return permutation;
  }
  throw InvalidArgument(
      "'" + std::string(text) +
      "' is not a permutation of axes; write 0, 1 and 2, each once, such as 2,0,1, or 1,0 for rows and columns");
}

std::string to_string(const Permutation& permutation) {
  return std::to_string(permutation.axes[0]) + "," + std::to_string(permutation.axes[1]) + "," +
         std::to_string(permutation.axes[2]);
}

const std::array<Permutation, 6>& all_permutations() noexcept {
  static constexpr std::array<Permutation, 6> kAll{
      {{{0, 1, 2}}, {{0, 2, 1}}, {{1, 0, 2}}, {{1, 2, 0}}, {{2, 0, 1}}, {{2, 1, 0}}}};
  return kAll;
}

TensorExtent permuted(const TensorExtent& extent, const Permutation& permutation) noexcept {
  TensorExtent result{};
  for (std::size_t k = 0; k < 3; ++k) result[k] = extent[std::size_t(permutation.axes[k])];
  return result;
}

WithoutUnits without_unit_axes(const TensorExtent& extent, const Permutation& permutation) {
  std::array<int, 3> in_order{0, 1, 2};
  const auto is_unit = [&](int axis) { return extent[std::size_t(axis)] == 1; };
  const auto others = std::stable_partition(in_order.begin(), in_order.end(), is_unit);
  std::array<int, 3> out_order = in_order;
  std::copy_if(permutation.axes.begin(), permutation.axes.end(),
               out_order.begin() + (others - in_order.begin()), [&](int axis) { return !is_unit(axis); });

  WithoutUnits result;
  for (std::size_t k = 0; k < 3; ++k) {
    result.extent[k] = extent[std::size_t(in_order[k])];
    result.permutation.axes[k] =
        int(std::find(in_order.begin(), in_order.end(), out_order[k]) - in_order.begin());
  }
  return result;
}

PermutationAsTranspose as_transpose(const TensorExtent& extent, const Permutation& permutation,
                                    std::int64_t element_bytes) {
  check_tensor(extent, permutation, element_bytes);
  const WithoutUnits work = without_unit_axes(extent, permutation);
  const auto [planes, rows, cols] = work.extent;
  const std::array<int, 3>& axes = work.permutation.axes;
  const auto is = [&](int a, int b, int c) { return axes == std::array<int, 3>{a, b, c}; };

  if (is(1, 0, 2)) return dense({1, planes, rows, cols * element_bytes});
  if (is(1, 2, 0)) return dense({1, planes, rows * cols, element_bytes});
  if (is(2, 0, 1)) return dense({1, planes * rows, cols, element_bytes});
  if (is(0, 2, 1)) return dense({planes, rows, cols, element_bytes});
  if (is(2, 1, 0)) {
    PermutationAsTranspose result{.shape = {rows, planes, cols, element_bytes}};
    result.in_pitch_bytes = rows * cols * element_bytes;
    result.in_item_bytes = cols * element_bytes;
    result.out_pitch_bytes = rows * planes * element_bytes;
    result.out_item_bytes = planes * element_bytes;
    return result;
  }
  return dense({1, 1, planes * rows * cols, element_bytes});
}

void permute_reference(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                       const std::byte* in, std::byte* out) {
  check_tensor(extent, permutation, element_bytes);
  const TensorExtent shape = permuted(extent, permutation);
  std::array<std::int64_t, 3> index{};
  for (index[0] = 0; index[0] < extent[0]; ++index[0]) {
    for (index[1] = 0; index[1] < extent[1]; ++index[1]) {
      for (index[2] = 0; index[2] < extent[2]; ++index[2]) {
        const TensorExtent to = permuted(index, permutation);
        const std::int64_t from_element = (index[0] * extent[1] + index[1]) * extent[2] + index[2];
        const std::int64_t to_element = (to[0] * shape[1] + to[1]) * shape[2] + to[2];
        std::memcpy(out + to_element * element_bytes, in + from_element * element_bytes,
                    std::size_t(element_bytes));
      }
    }
  }
}

void permute_host(const TensorExtent& extent, const Permutation& permutation, std::int64_t element_bytes,
                  const std::byte* in, std::byte* out, Executor& executor) {
  const auto transpose = [&](const TransposeShape& shape, ConstMatrices from, Matrices to) {
    transpose_host(shape, from, to, executor);
  };
  permute_by(transpose, extent, permutation, element_bytes, in, out);
}

}  // namespace sepconv
