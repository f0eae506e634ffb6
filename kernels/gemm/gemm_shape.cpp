#include <fmt/format.h>

#include "core/error.hpp"
#include "kernels/gemm/gemm.hpp"

namespace sepconv {
namespace {

std::string shape_text(const ImageSpec& spec) {
  return fmt::format("{} x {}", spec.extent.rows, spec.extent.cols);
}

std::string operand_text(const char* name, const ImageSpec& spec, bool transposed) {
  return fmt::format("{} is {}{}", name, shape_text(spec), transposed ? ", transposed" : "");
}

Extent transposed_extent(Extent extent, bool transposed) {
  return transposed ? Extent{extent.cols, extent.rows} : extent;
}

void check_matrix(const char* name, const ImageSpec& spec) {
  if (spec.channels != 1)
    throw InvalidArgument(
        fmt::format("{} has {} channels, and a matrix has one; give one channel", name, spec.channels));
  if (spec.type != PixelType::f32 && spec.type != PixelType::f64)
    throw InvalidArgument(
        fmt::format("{} is of {}, and matrices of f32 and f64 are multiplied; convert it with the stage cast",
                    name, name_of(spec.type)));
}

void check_same_type(const char* name, const ImageSpec& spec, const ImageSpec& a) {
  if (spec.type != a.type)
    throw InvalidArgument(fmt::format("A is of {} but {} of {}; give all matrices in one type",
                                      name_of(a.type), name, name_of(spec.type)));
}

}  // namespace

GemmShape gemm_shape(const GemmOp& op, const ImageSpec& a, const ImageSpec& b) {
  check_matrix("A", a), check_matrix("B", b);
  check_same_type("B", b, a);
  const Extent left = transposed_extent(a.extent, op.trans_a);
  const Extent right = transposed_extent(b.extent, op.trans_b);
  if (left.cols != right.rows) {
    throw InvalidArgument(fmt::format(
        "the product does not exist: {} and {}, so the sums would have {} and {} terms; the numbers must be "
        "equal",
        operand_text("A", a, op.trans_a), operand_text("B", b, op.trans_b), left.cols, right.rows));
  }
  return {left.rows, right.cols, left.cols};
}

GemmShape gemm_shape(const GemmOp& op, const ImageSpec& a, const ImageSpec& b, const ImageSpec& out) {
  const GemmShape shape = gemm_shape(op, a, b);
  check_matrix("C", out);
  check_same_type("C", out, a);
  if (out.extent != Extent{shape.m, shape.n}) {
    throw InvalidArgument(fmt::format("the product of A and B is {} x {} ({}, {}), but C is {}", shape.m,
                                      shape.n, operand_text("A", a, op.trans_a),
                                      operand_text("B", b, op.trans_b), shape_text(out)));
  }
  return shape;
}

}  // namespace sepconv
