// Deviations whose sums are too imprecise, recomputed on the host; private to this folder.
#pragma once

#include <optional>

#include "kernels/sliding_window/deviation_formulas.hpp"

namespace sepconv {

/// Recomputes the elements of `out` that are -infinity from their windows' pixels: the deviation or, if
/// `min_deviation` is given, the contrast. `out` covers windows.out and is f32 or f64.
void recompute_deviations(const SpreadWindows& windows, std::optional<double> min_deviation,
                          const PixelView& out);

}  // namespace sepconv
