// A small image, a chain and options that cut it into 13 bands, for the tests of the streaming runners.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "fault_injection.hpp"
#include "pipeline/run/run.hpp"

namespace sepconv::test {

inline const ImageSpec kSpec{{200, 150}, 2, PixelType::u8};

inline Chain two_stages() {
  return Chain::parse(std::vector<std::string>{"gaussian:sigma=2", "unsharp:sigma=1"});
}

/// Among the numbers of GPUs: the CPU.
inline constexpr int kCpu = -1;

/// Sets PlanOptions::devices and PlanOptions::with_cpu.
inline void use_devices(PlanOptions& options, std::vector<int> devices) {
  options.with_cpu = std::erase(devices, kCpu) > 0;
  options.devices = std::move(devices);
}

/// The devices of a plan; the CPU alone is an empty list.
inline std::vector<int> devices_of(const Plan& plan) {
  std::vector<int> devices = plan.devices;
  if (plan.with_cpu) devices.insert(devices.begin(), kCpu);
  return devices;
}

/// Whether the plan uses the devices; if it cannot share bands with the CPU, the GPUs.
inline bool uses(const Plan& plan, std::vector<int> devices) {
  if (!plan.why_not_shared.empty()) std::erase(devices, kCpu);
  return devices_of(plan) == devices;
}

inline RunOptions small_bands(int slots = 3, const std::vector<int>& devices = {}) {
  RunOptions options;
  options.slots = slots;
  options.threads = 2;
  options.band_rows = 16;
  use_devices(options, devices);
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
