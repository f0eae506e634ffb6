// Parses expressions of the stage math. Private to pipeline/stages.
#pragma once

#include <string_view>

#include "kernels/pointwise/pixel_program.hpp"

namespace sepconv {

/// Parses an expression like "(b4 - b3) / (b4 + b3)" or "where(x > 100, x, 0)": numbers, nan, inf, x (the
/// channel that is computed), b1 to b65536 (channels, from 1), + - * /, > >= < <= == !=, parentheses, and the
/// functions abs, sqrt, isnan, min, max, where. Throws InvalidArgument: what is wrong, and at which character.
PixelProgram parse_math(std::string_view text);

}  // namespace sepconv
