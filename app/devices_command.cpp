// sepconv devices: the devices that a run can use, and their measured rates.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "commands.hpp"
#include "console.hpp"
#include "core/byte_text.hpp"
#include "core/error.hpp"
#include "json_text.hpp"
#include "kernels/device/runtime.hpp"
#include "kernels/simd/targets.hpp"
#include "pipeline/machine/host_resources.hpp"
#include "pipeline/machine/machine_model.hpp"
#include "pipeline/plan/device_choice.hpp"
#include "pipeline/report/report.hpp"
#include "text.hpp"

namespace sepconv::app {

namespace {

struct Processor {
  std::string name;
  int processors = 0;
  std::int64_t free_bytes = 0;
  MachineLimits limits;
};

struct Gpu {
  DeviceInfo info;
  std::int64_t free_bytes = 0;
  DeviceRates limits;
  std::string failure;  ///< why it was not measured: in exclusive use, full, or unsupported
};

/// The name of the processor from /proc/cpuinfo.
std::string processor_name() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

Processor measure_processor() {
  const int processors = usable_processors();
  return {processor_name(), processors, free_memory_bytes(), measure_limits(processors)};
}

std::vector<Gpu> measure_gpus() {
  std::vector<Gpu> gpus;
  for (const DeviceInfo& info : list_devices()) {
    Gpu gpu;
    gpu.info = info;
    try {
      gpu.free_bytes = free_device_memory_bytes(info.index);
      gpu.limits = measure_device_limits(info.index);
    } catch (const Error& error) {
      gpu.failure = error.what();
    }
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

std::string cache_size(int sysconf_name) {
  const long bytes = sysconf(sysconf_name);
  return bytes > 0 ? format_bytes(static_cast<double>(bytes)) : "unknown";
}

void print_line(std::string_view label, const std::string& value) { print("  {:<22} {}\n", label, value); }

std::string gigabytes(double bytes_per_second) { return fmt::format("{:.1f} GB/s", bytes_per_second / 1e9); }

std::string rate_text(const MachineRate& rate) {
  using enum MachineRate::Unit;
  switch (rate.unit) {
    case bytes_per_second:
      return gigabytes(rate.value);
    case seconds:
      return fmt::format("{:.3g} ps", rate.value * 1e12);
    case times:
      break;
  }
  return fmt::format("{:.2f} times", rate.value);
}

using RatesOf = std::vector<MachineRate> (*)(const MachineModel&);

/// Prints the machine rates that the planner uses: measured and default values.
void print_rates(RatesOf rates_of, const MachineLimits& limits) {
  const auto measured = rates_of(model_from_limits(limits)), assumed = rates_of({});
  for (std::size_t i = 0; i < measured.size(); ++i)
    print_line(measured[i].name,
               fmt::format("{}, assumed {}", rate_text(measured[i]), rate_text(assumed[i])));
}

nlohmann::ordered_json rates_json(RatesOf rates_of, const MachineLimits& limits) {
  const auto measured = rates_of(model_from_limits(limits)), assumed = rates_of({});
  nlohmann::ordered_json all;
  for (std::size_t i = 0; i < measured.size(); ++i)
    all[std::string(measured[i].name)] = {{"measured", measured[i].value}, {"default", assumed[i].value}};
  return all;
}

void print_processor(const Processor& cpu) {
  print("cpu: {}\n", cpu.name);
  print_line("processors", fmt::format("{}", cpu.processors));
  print_line("instruction set", fmt::format("{} (of {})", simd_target(), fmt::join(simd_targets(), " ")));
  print_line("caches", fmt::format("L2 {}, L3 {}", cache_size(_SC_LEVEL2_CACHE_SIZE),
                                   cache_size(_SC_LEVEL3_CACHE_SIZE)));
  print_line("free memory", format_bytes(static_cast<double>(cpu.free_bytes)));
  print_line("copy", gigabytes(cpu.limits.host.copy_bytes_per_second) + " (read and written, 32 MiB)");
  print_line("fused multiply-adds", fmt::format("{:.0f} G/s in f32", cpu.limits.host.fma_per_second / 1e9));
  if (was_busy(cpu.limits.host.processor_share))
    print_line("busy",
               fmt::format("measuring had a processor for {:.0f} % of its time: these rates are rough",
                           100 * cpu.limits.host.processor_share));
  print_rates(host_model_values, cpu.limits);
}

std::string compute_capability(const DeviceInfo& info) {
  return fmt::format("{}.{}", info.compute_capability / 10, info.compute_capability % 10);
}

void print_gpu(const Gpu& gpu) {
  const DeviceRates& limits = gpu.limits;
  print("cuda:{}: {}\n", gpu.info.index, gpu.info.name);
  print_line("compute capability", compute_capability(gpu.info));
  print_line("memory", fmt::format("{}, {} free", format_bytes(static_cast<double>(gpu.info.memory_bytes)),
                                   format_bytes(static_cast<double>(gpu.free_bytes))));
  print_line("multiprocessors", fmt::format("{}", gpu.info.multiprocessors));
  if (!gpu.failure.empty()) return print_line("cannot be used", gpu.failure);
  print_line("copy engines", fmt::format("{}", gpu.info.copy_engines));
  print_line("upload", gigabytes(limits.upload_bytes_per_second) + " (from page-locked memory)");
  print_line("download", gigabytes(limits.download_bytes_per_second) + " (to page-locked memory)");
  print_line("both at once", gigabytes(limits.duplex_bytes_per_second) + " each way");
  print_line("device copy", gigabytes(limits.copy_bytes_per_second) + " (read and written)");
  print_line("fused multiply-adds",
             fmt::format("{:.0f} G/s in f32, {:.0f} G/s in f64", limits.fma_f32_per_second / 1e9,
                         limits.fma_f64_per_second / 1e9));
  print_rates(device_model_values, {.device = limits});
}

nlohmann::ordered_json processor_json(const Processor& cpu) {
  return {{"name", cpu.name},
          {"processors", cpu.processors},
          {"instruction_set", simd_target()},
          {"free_memory_bytes", cpu.free_bytes},
          {"copy_bytes_per_second", cpu.limits.host.copy_bytes_per_second},
          {"fma_f32_per_second", cpu.limits.host.fma_per_second},
          {"processor_share", cpu.limits.host.processor_share},
          {"busy", was_busy(cpu.limits.host.processor_share)},
          {"machine", rates_json(host_model_values, cpu.limits)}};
}

nlohmann::ordered_json gpu_json(const Gpu& gpu) {
  nlohmann::ordered_json all = {{"device", fmt::format("cuda:{}", gpu.info.index)},
                                {"name", gpu.info.name},
                                {"compute_capability", compute_capability(gpu.info)},
                                {"memory_bytes", gpu.info.memory_bytes},
                                {"free_memory_bytes", gpu.free_bytes},
                                {"multiprocessors", gpu.info.multiprocessors},
                                {"copy_engines", gpu.info.copy_engines},
                                {"upload_bytes_per_second", gpu.limits.upload_bytes_per_second},
                                {"download_bytes_per_second", gpu.limits.download_bytes_per_second},
                                {"duplex_bytes_per_second", gpu.limits.duplex_bytes_per_second},
                                {"copy_bytes_per_second", gpu.limits.copy_bytes_per_second},
                                {"fma_f32_per_second", gpu.limits.fma_f32_per_second},
                                {"fma_f64_per_second", gpu.limits.fma_f64_per_second}};
  if (gpu.failure.empty()) {
    all["machine"] = rates_json(device_model_values, {.device = gpu.limits});
  } else {
    all["trouble"] = gpu.failure;
  }
  return all;
}

int print_devices(bool json) {
  const Processor cpu = measure_processor();
  const std::vector<Gpu> gpus = measure_gpus();
  if (json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const Gpu& gpu : gpus) list.push_back(gpu_json(gpu));
    const nlohmann::ordered_json all = {{"cpu", processor_json(cpu)}, {"gpus", std::move(list)}};
    print_lines(json_lines(all));
    return kDone;
  }
  print_processor(cpu);
  for (const Gpu& gpu : gpus) print_gpu(gpu);
  if (gpus.empty()) print("gpu: none; {}\n", gpu_absence_reason());
  return kDone;
}

}  // namespace

void add_devices_command(CLI::App& program, Context& context) {
  CLI::App* command =
      program.add_subcommand("devices", "List what a run can compute on, and how fast that is now.");
  const auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "as JSON");
  command->footer(examples({"sepconv devices", "sepconv devices --json"}));
  command->callback([&context, json] { context.action = [json] { return print_devices(*json); }; });
}

}  // namespace sepconv::app
