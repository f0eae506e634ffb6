// Operands of exact_gemm for its tests: every combination of channels and transposition.
#pragma once

#include <string>

#include "cuda_case.hpp"
#include "kernels/gemm/exact.hpp"

namespace sepconv {

/// The operand that has several channels, and whether the product sums over them.
enum class ExactChannels { none, x_summed, y_summed, x_separate, y_separate };
inline constexpr ExactChannels kExactChannels[] = {ExactChannels::none, ExactChannels::x_summed,
                                                   ExactChannels::y_summed, ExactChannels::x_separate,
                                                   ExactChannels::y_separate};

/// m x k by k x n, where k counts columns of x and rows of y, not their channels.
struct ExactCase {
  std::int64_t m = 1, n = 1, k = 1;
  ExactChannels mode = ExactChannels::none;
  std::int64_t channels = 1;  ///< of the operand with several channels
  bool x_transposed = false;  ///< only if x has one channel; likewise for y
  bool y_transposed = false;

  bool on_x() const { return mode == ExactChannels::x_summed || mode == ExactChannels::x_separate; }
  bool on_y() const { return mode == ExactChannels::y_summed || mode == ExactChannels::y_separate; }
  bool keeps_channels() const {
    return mode == ExactChannels::x_separate || mode == ExactChannels::y_separate;
  }

  FramedImage make_x(PixelType type) const {
    const std::int64_t cols = mode == ExactChannels::y_summed ? k * channels : k;
    return FramedImage(x_transposed ? Extent{cols, m} : Extent{m, cols}, on_x() ? channels : 1, type);
  }
  FramedImage make_y(PixelType type) const {
    const std::int64_t rows = mode == ExactChannels::x_summed ? k * channels : k;
    return FramedImage(y_transposed ? Extent{n, rows} : Extent{rows, n}, on_y() ? channels : 1, type);
  }
  FramedImage make_out(PixelType type) const {
    return FramedImage({m, n}, keeps_channels() ? channels : 1, type);
  }
  std::int64_t sum_length() const {
    return mode == ExactChannels::x_summed || mode == ExactChannels::y_summed ? k * channels : k;
  }

  std::string text() const {
    return std::to_string(m) + " x " + std::to_string(k) + " by " + std::to_string(k) + " x " +
           std::to_string(n) + ", mode " + std::to_string(static_cast<int>(mode)) + " of " +
           std::to_string(channels) + " channels" + (x_transposed ? ", x transposed" : "") +
           (y_transposed ? ", y transposed" : "");
  }
};

inline ExactCase random_exact_case(Random& random, std::int64_t m, std::int64_t n, std::int64_t k) {
  ExactCase c{m, n, k, random_choice(random, kExactChannels)};
  if (c.mode != ExactChannels::none) c.channels = random_between(random, 2, 5);
  c.x_transposed = !c.on_x() && random() % 2 == 0;
  c.y_transposed = !c.on_y() && random() % 2 == 0;
  return c;
}

}  // namespace sepconv
