// The taps of the named filters, in double precision, with the sources of their formulas.
#pragma once

#include <cstdint>
#include <vector>

namespace sepconv {

/// scipy.ndimage.gaussian_filter1d's weights of order 0 to 3 as SciPy computes them, in correlation order:
/// exp(-x^2 / (2 sigma^2)) normalised to sum 1, times the polynomial of the derivative. Throws
/// InvalidArgument unless sigma is finite and > 0.
std::vector<double> gaussian_taps(double sigma, std::int64_t radius, int order = 0);
/// int(truncate * sigma + 0.5), SciPy's rule. Throws InvalidArgument when not in [0, kMaxRadius].
std::int64_t gaussian_radius(double sigma, double truncate = 4.0);

inline constexpr std::int64_t kMaxRadius = 1 << 20;

/// 2 * radius + 1 equal taps that sum to 1.
std::vector<double> box_taps(std::int64_t radius);
/// Row 2 * radius of Pascal's triangle over 4^radius. radius <= 512 (beyond, the outer taps underflow).
std::vector<double> binomial_taps(std::int64_t radius);
/// OpenCV getDerivKernels: {-1, 0, 1} and its smoothing partner {1, 2, 1} (Sobel) or {3, 10, 3} (Scharr), not
/// normalised.
std::vector<double> difference_taps();
std::vector<double> sobel_smoothing_taps();
std::vector<double> scharr_smoothing_taps();
/// Central differences of even or odd order n: the n-fold convolution used by OpenCV Sobel for ksize = 2 *
/// radius + 1.
std::vector<double> derivative_taps(int order, std::int64_t radius);

}  // namespace sepconv
