#include "device_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "options.hpp"
#include "sepconv/core/error.hpp"
#include "sepconv/kernels/cuda/runtime.hpp"

namespace sepconv::app {

namespace {

[[noreturn]] void fail_syntax(const std::string& text) {
  throw InvalidArgument(fmt::format("--device {} is unknown; use auto, cpu, cuda, or GPUs by number like cuda:0,1", text));
}

std::vector<int> parse_indices(const std::string& text, std::size_t begin) {
  std::vector<int> indices;
  const char* at = text.data() + begin;
  const char* const end = text.data() + text.size();
  for (;; ++at) {
    int index = -1;
    const auto [next, error] = std::from_chars(at, end, index);
    if (error != std::errc() || index < 0) fail_syntax(text);
    if (std::ranges::count(indices, index) > 0) throw InvalidArgument(fmt::format("--device {} names GPU {} twice", text, index));
    indices.push_back(index);
    if (next == end) return indices;
    if (*next != ',') fail_syntax(text);
    at = next;
  }
}

}  // namespace

std::string absence_of_gpus() {
  return built_with_cuda() ? "no GPU or no NVIDIA driver was found" : "this build of sepconv has no CUDA engine";
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
          "auto (a GPU if there is one), cpu, cuda, or GPUs by number: cuda:0,1")
      ->type_name("DEVICE");
  command
      .add_option_function<std::string>(
          "--max-device-memory",
          [&options](const std::string& text) { options.max_device_memory_bytes = parse_size(text); },
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
    if (host_only != nullptr) return {{}, fmt::format("stage '{}' does not run on a GPU: the CPU computes", host_only->text())};
    return {{0}, {}};
  }
  if (found.empty()) throw InvalidArgument(fmt::format("--device cuda: {}; use --device cpu or auto", absence_of_gpus()));
  if (host_only != nullptr) {
    throw InvalidArgument(fmt::format("stage '{}' does not run on a GPU; use --device cpu", host_only->text()));
  }
  const std::vector<int> devices = request.indices.empty() ? std::vector<int>{0} : request.indices;
  for (const int device : devices) {
    if (device >= static_cast<int>(found.size())) {
      throw InvalidArgument(fmt::format("--device cuda:{}: there {} only {} GPU{}, numbered from 0; sepconv devices lists them", device,
                                        found.size() == 1 ? "is" : "are", found.size(), found.size() == 1 ? "" : "s"));
    }
  }
  return {devices, {}};
}

}  // namespace sepconv::app
