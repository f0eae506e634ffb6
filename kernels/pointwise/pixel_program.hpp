// Arithmetic on the channels of a pixel, as a program for a stack machine. Every operation is one of IEEE 754,
// rounded once, so that all implementations have the same bits.
#pragma once

#include <cstdint>
#include <vector>

#include "core/image.hpp"

namespace sepconv {

struct PixelInstruction {
  enum class Op : std::uint8_t {
    constant,  ///< pushes `value`
    channel,   ///< pushes channel `channel` of the pixel
    self,      ///< pushes the channel that is computed
    negate,
    absolute,
    square_root,
    is_nan,  ///< 1 for NaN, else 0
    add,
    subtract,
    multiply,
    divide,
    minimum,
    maximum,  ///< NaN if an operand is
    greater,
    greater_equal,
    less,
    less_equal,
    equal,
    not_equal,  ///< 1 or 0; NaN compares as unequal
    select,     ///< a != 0 ? b : c
  };
  Op op = Op::constant;
  double value = 0;
  std::int64_t channel = 0;

  /// Number of operands taken from the stack.
  int operands() const noexcept;
};

struct PixelProgram {
  std::vector<PixelInstruction> instructions;
  bool is_per_channel = false;     ///< uses `self`: the result has the channels of the input, else one
  bool propagates_nodata = false;  ///< the result is NaN where a channel that is used is NaN
  bool keeps_last_channel =
      false;  ///< the last channel of the input is a further, last channel of the result
};

/// Maximum depth of the stack of a program.
inline constexpr int kMaxProgramDepth = 32;

/// Throws InvalidArgument unless the program leaves one value, within kMaxProgramDepth.
void check_program(const PixelProgram& program);

/// Computes every pixel of `out`. Extents are equal and channels as the program says; constants are rounded
/// once to the arithmetic type. Stores as in conv.hpp; NaN is stored as the quiet NaN without payload.
/// Allocates two buffers of 128 pixels. Throws InvalidArgument for views that do not fit.
void pixel_program_host(const PixelProgram& program, const ConstPixelView& in, const PixelView& out,
                        Arithmetic arithmetic);
/// The same, pixel by pixel.
void pixel_program_reference(const PixelProgram& program, const ConstPixelView& in, const PixelView& out,
                             Arithmetic arithmetic);

}  // namespace sepconv
