// Deviations that their sums do not tell, on the host; private to this folder.
#pragma once

#include <optional>

#include "kernels/sliding_window/spread.hpp"

namespace sepconv {

/// Makes of its window's pixels what is -infinity in `out`, of f32 or f64, which is windows.out; with `least`
/// the contrast.
void recompute_deviations(const SpreadWindows& windows, std::optional<double> least, const PixelView& out);

}  // namespace sepconv
