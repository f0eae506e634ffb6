// --device and --max-device-memory: from the typed words to the GPUs that a run computes on.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sepconv/pipeline/chain/chain.hpp"
#include "sepconv/pipeline/run/run.hpp"

namespace sepconv::app {

/// What the user said.
struct DeviceRequest {
  enum class Kind : std::uint8_t { automatic, cpu, cuda };
  Kind kind = Kind::automatic;
  std::vector<int> indices;  ///< after "cuda:"; empty: the first GPU
};

/// "auto", "cpu", "cuda", "cuda:0", "cuda:0,1". Throws InvalidArgument.
DeviceRequest parse_device(const std::string& text);

/// Adds --device and --max-device-memory.
void add_device_options(CLI::App& command, DeviceRequest& request, RunOptions& options);

/// Why there is no GPU to be had.
std::string absence_of_gpus();

struct DeviceChoice {
  std::vector<int> devices;  ///< for PlanOptions::devices
  std::string note;          ///< why it is the CPU although a GPU was not ruled out; empty otherwise
};

/// What there is of what was asked for; the first GPU chosen becomes the calling thread's current device.
/// `chain` and `source`, if given, are what the devices have to compute. Throws InvalidArgument when the user
/// asked for a GPU that is not there, and CudaError or OutOfMemory when it cannot be used; an automatic
/// choice then is the CPU.
DeviceChoice choose_devices(const DeviceRequest& request, const Chain* chain = nullptr,
                            const ImageSpec& source = {});

/// Calls `plan`, which throws OutOfMemory where nothing fits, with the choice in options.devices: for the CPU
/// once more when the user left it open. Why it is the CPU although a GPU was not ruled out; empty otherwise.
std::string plan_on(const DeviceChoice& choice, const DeviceRequest& request, RunOptions& options,
                    const std::function<void()>& plan);

}  // namespace sepconv::app
