// How an image continues beyond its edges. Index arithmetic only, shared by all implementations and the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/host_device.hpp"

namespace sepconv {

enum class BorderMode : std::uint8_t {
  constant,    ///< vvv|abcd|vvv
  replicate,   ///< aaa|abcd|ddd
  reflect,     ///< cba|abcd|dcb
  reflect101,  ///< dcb|abcd|cba
  wrap,        ///< bcd|abcd|abc
};
std::string_view name_of(BorderMode mode) noexcept;
std::optional<BorderMode> parse_border_mode(std::string_view name) noexcept;

/// A border mode and, for `constant`, the value of every channel outside the image.
struct Border {
  BorderMode mode = BorderMode::reflect101;
  double value = 0;
  friend bool operator==(const Border&, const Border&) = default;
};

/// Maps any `index` to the index in [0, size) of the pixel used there, or -1 for the constant. size > 0.
SEPCONV_HOST_DEVICE inline std::int64_t border_index(std::int64_t index, std::int64_t size, BorderMode mode) {
  if (index >= 0 && index < size) return index;
  switch (mode) {
    case BorderMode::constant:
      return -1;
    case BorderMode::replicate:
      return index < 0 ? 0 : size - 1;
    case BorderMode::reflect: {
      const std::int64_t period = 2 * size;
      const std::int64_t phase = ((index % period) + period) % period;
      return phase < size ? phase : period - 1 - phase;
    }
    case BorderMode::reflect101: {
      if (size == 1) return 0;
      const std::int64_t period = 2 * size - 2;
      const std::int64_t phase = ((index % period) + period) % period;
      return phase < size ? phase : period - phase;
    }
#ifndef __CUDA_ARCH__  // kernels never get a wrapped border (conv.hpp) and are smaller without it
    case BorderMode::wrap:
      return ((index % size) + size) % size;
#endif
  }
  return -1;
}

}  // namespace sepconv
