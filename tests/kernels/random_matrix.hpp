// Channel matrices for the tests of mix_channels.
#pragma once

#include <random>

#include "kernels/pointwise/pointwise.hpp"
#include "random_image.hpp"

namespace sepconv {

inline ChannelMatrix random_matrix(Random& random, std::int64_t out_channels, std::int64_t in_channels) {
  ChannelMatrix matrix{out_channels, in_channels, {}, {}};
  const auto number = [&] { return std::uniform_real_distribution<double>(-2, 2)(random); };
  for (std::int64_t i = 0; i < out_channels * in_channels; ++i) matrix.coefficients.push_back(number());
  for (std::int64_t i = 0; i < out_channels; ++i) matrix.offsets.push_back(10 * number());
  return matrix;
}

}  // namespace sepconv
