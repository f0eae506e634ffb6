#include "device_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "options.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/core/memory.hpp"
#include "sepconv/core/printable.hpp"
#include "sepconv/kernels/cuda/runtime.hpp"
#include "sepconv/kernels/pointwise/pointwise.hpp"

namespace sepconv::app {

namespace {

[[noreturn]] void fail_syntax(const std::string& text) {
  throw InvalidArgument(fmt::format(
      "--device {} is unknown; use auto, cpu, cuda, or GPUs by number like cuda:0,1", shortened(text)));
}

std::vector<int> parse_indices(const std::string& text, std::size_t begin) {
  std::vector<int> indices;
  const char* at = text.data() + begin;
  const char* const end = text.data() + text.size();
  for (;; ++at) {
    int index = -1;
    const auto [next, error] = std::from_chars(at, end, index);
    if (error != std::errc() || index < 0) fail_syntax(text);
    if (std::ranges::count(indices, index) > 0)
      throw InvalidArgument(fmt::format("--device {} names GPU {} twice", shortened(text), index));
    indices.push_back(index);
    if (next == end) return indices;
    if (*next != ',') fail_syntax(text);
    at = next;
  }
}

/// Makes the GPU the current one, so that no other is given a context later on, and lets it compute a pixel.
/// Throws CudaError and OutOfMemory for one that is there but cannot be used: taken by others, full, or too
/// old for this build.
void try_device(int device) {
  set_current_device(device);
  const Stream stream;
  const float one = 1;
  const auto bytes = static_cast<std::int64_t>(sizeof one);
  const Buffer memory(2 * bytes, device_resource());
  const PixelView from{memory.data(), {1, 1}, 1, PixelType::f32, bytes};
  const PixelView to{memory.data() + bytes, {1, 1}, 1, PixelType::f32, bytes};
  copy_rows(from.data, bytes, &one, bytes, bytes, 1, stream.get());
  pointwise_cuda({}, from, from, to, Arithmetic::f32, stream.get());
  stream.synchronize();
}

/// The first GPU, if it can be used.
DeviceChoice automatic_choice() {
  try {
    try_device(0);
  } catch (const Error& error) {
    return {{}, fmt::format("cuda:0 cannot be used, {}: the CPU computes", error.what())};
  }
  return {{0}, {}};
}

}  // namespace

std::string absence_of_gpus() {
  return built_with_cuda() ? "no GPU or no NVIDIA driver was found"
                           : "this build of sepconv has no CUDA engine";
}

DeviceRequest parse_device(const std::string& text) {
  using Kind = DeviceRequest::Kind;
  if (text == "auto") return {Kind::automatic, {}};
  if (text == "cpu") return {Kind::cpu, {}};
  if (text == "cuda") return {Kind::cuda, {}};
  constexpr std::string_view kPrefix = "cuda:";
  if (!text.starts_with(kPrefix)) fail_syntax(text);
  return {Kind::cuda, parse_indices(text, kPrefix.size())};
}

void add_device_options(CLI::App& command, DeviceRequest& request, RunOptions& options) {
  command
      .add_option_function<std::string>(
          "--device", [&request](const std::string& text) { request = parse_device(text); },
          "a GPU if there is one (auto), the CPU, the first GPU, or GPUs by number: cuda:0,1")
      ->type_name("auto|cpu|cuda|cuda:0[,1]");
  command
      .add_option_function<std::string>(
          "--max-device-memory",
          [&options](const std::string& text) {
            options.max_device_memory_bytes = parse_size("--max-device-memory", text);
          },
          "ceiling for what the run holds on each GPU; nine tenths of what is free by default")
      ->type_name("SIZE");
}

DeviceChoice choose_devices(const DeviceRequest& request, const Chain* chain, const ImageSpec& source) {
  using Kind = DeviceRequest::Kind;
  if (request.kind == Kind::cpu) return {};
  const std::vector<DeviceInfo> found = cuda_devices();
  const Stage* const host_only = chain != nullptr ? chain->host_only_stage(source) : nullptr;
  if (request.kind == Kind::automatic) {
    if (found.empty()) return {{}, absence_of_gpus() + ": the CPU computes"};
    if (host_only != nullptr)
      return {
          {},
          fmt::format("stage '{}' does not run on a GPU: the CPU computes", printable(host_only->text()))};
    return automatic_choice();
  }
  if (found.empty())
    throw InvalidArgument(fmt::format("--device cuda: {}; use --device cpu or auto", absence_of_gpus()));
  if (host_only != nullptr) {
    throw InvalidArgument(
        fmt::format("stage '{}' does not run on a GPU; use --device cpu", host_only->text()));
  }
  const std::vector<int> devices = request.indices.empty() ? std::vector<int>{0} : request.indices;
  for (const int device : devices) {
    if (device >= static_cast<int>(found.size())) {
      throw InvalidArgument(
          fmt::format("--device cuda:{}: there {} only {} GPU{}, numbered from 0; sepconv devices lists them",
                      device, found.size() == 1 ? "is" : "are", found.size(), found.size() == 1 ? "" : "s"));
    }
  }
  for (auto device = devices.rbegin(); device != devices.rend(); ++device)
    try_device(*device);  // the first remains current
  return {devices, {}};
}

std::string plan_on(const DeviceChoice& choice, const DeviceRequest& request, RunOptions& options,
                    const std::function<void()>& plan) {
  options.devices = choice.devices;
  try {
    plan();
    return choice.note;
  } catch (const OutOfMemory&) {
    if (options.devices.empty() || request.kind != DeviceRequest::Kind::automatic) throw;
  }
  options.devices.clear();
  plan();
  return "no plan for a GPU fits into memory: the CPU computes";
}

}  // namespace sepconv::app
