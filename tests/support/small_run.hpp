// A small image, a chain and options that cut it into 13 bands, for the tests of the streaming runners.
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

/// The exception that hooks throw on purpose.
struct InjectedError : std::runtime_error {
  using runtime_error::runtime_error;
};

/// A hook that throws at call number `n`, counted from 0.
inline Hook fail_at(std::int64_t n) {
  return [n](std::int64_t call) {
    if (call == n) throw InjectedError("planted");
  };
}

}  // namespace sepconv::test
