// A small image, a chain and options that cut it into 13 bands: what the tests of the streaming runners have
// in common.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "fault_injection.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::test {

inline const ImageSpec kSpec{{200, 150}, 2, PixelType::u8};

inline Chain two_stages() {
  return Chain::parse(std::vector<std::string>{"gaussian:sigma=2", "unsharp:sigma=1"});
}

inline RunOptions small_bands(int slots = 3, const std::vector<int>& devices = {}) {
  RunOptions options;
  options.slots = slots;
  options.threads = 2;
  options.band_rows = 16;
  options.devices = devices;
  return options;
}

/// What a hook throws on purpose.
struct Planted : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Fails at the n-th call.
inline Hook fail_at(std::int64_t n) {
  return [n](std::int64_t call) {
    if (call == n) throw Planted("planted");
  };
}

}  // namespace sepconv::test
