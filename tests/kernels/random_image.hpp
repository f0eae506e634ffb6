// Images of random pixels for the kernel tests, and their comparison.
#pragma once

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "../support/forced_target.hpp"
#include "core/image.hpp"
#include "core/memory.hpp"

namespace sepconv {

using Random = std::mt19937_64;

inline std::int64_t random_between(Random& random, std::int64_t lowest, std::int64_t highest) {
  return std::uniform_int_distribution<std::int64_t>(lowest, highest)(random);
}

template <class Container>
const auto& random_choice(Random& random, const Container& choices) {
  return choices[static_cast<std::size_t>(
      random_between(random, 0, static_cast<std::int64_t>(std::size(choices)) - 1))];
}

/// An image that owns its pixels, by default with a row pitch that is not a multiple of a vector.
struct Image {
  Image(Extent extent, std::int64_t channels, PixelType type, std::int64_t padding_elements = 3)
      : pitch_bytes((extent.cols * channels + padding_elements) * size_of(type)),
        buffer(std::max<std::int64_t>(extent.rows * pitch_bytes, 1)),
        view{buffer.data(), extent, channels, type, pitch_bytes} {}

  void fill_bytes(int byte) { std::memset(buffer.data(), byte, static_cast<std::size_t>(buffer.size())); }

  std::int64_t pitch_bytes;
  Buffer buffer;
  PixelView view;
};

template <class T>
T random_element(Random& random, bool special) {
  if constexpr (std::is_floating_point_v<T>) {
    using Limits = std::numeric_limits<T>;
    if (special && random_between(random, 0, 9) == 0) {
      const T values[] = {Limits::quiet_NaN(),  Limits::infinity(), -Limits::infinity(), T(-0.0),
                          Limits::denorm_min(), Limits::max(),      Limits::lowest()};
      return random_choice(random, values);
    }
    return static_cast<T>(std::uniform_real_distribution<double>(-300, 300)(random));
  } else {
    return static_cast<T>(
        random_between(random, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
  }
}

/// Fills with finite values; if `special`, also with NaN, infinities, -0 and the extreme finite numbers.
inline void fill_random(const PixelView& view, Random& random, bool special = false) {
  visit_pixel_type(view.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < view.extent.rows; ++row) {
      for (std::int64_t i = 0; i < view.row_elements(); ++i)
        view.row<T>(row)[i] = random_element<T>(random, special);
    }
  });
}

/// Whether both have equal bits or both are NaN.
template <class T>
bool same_bits(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  }
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

/// Number of elements that differ between two views.
inline std::int64_t differing_elements(const ConstPixelView& a, const ConstPixelView& b) {
  std::int64_t count = 0;
  visit_pixel_type(a.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < a.extent.rows; ++row) {
      for (std::int64_t i = 0; i < a.row_elements(); ++i)
        count += !same_bits(a.row<T>(row)[i], b.row<T>(row)[i]);
    }
  });
  return count;
}

}  // namespace sepconv
