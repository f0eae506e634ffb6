// sepconv devices: what a run can compute on, and how fast that is now.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "commands.hpp"
#include "sepconv/kernels/simd/targets.hpp"
#include "sepconv/pipeline/report.hpp"

namespace sepconv::app {

namespace {

/// The processor's name as Linux gives it.
std::string processor_name() {
  std::ifstream lines("/proc/cpuinfo");
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "CPU";
}

std::string cache_size(int which) {
  const long bytes = sysconf(which);
  return bytes > 0 ? format_bytes(static_cast<double>(bytes)) : "unknown";
}

int print_devices() {
  const int processors = usable_processors();
  const HostLimits limits = measure_host_limits(processors);
  fmt::print("cpu: {}\n", processor_name());
  fmt::print("  {:<22} {}\n", "processors", processors);
  fmt::print("  {:<22} {} (of {})\n", "instruction set", simd_target(), fmt::join(simd_targets(), " "));
  fmt::print("  {:<22} L2 {}, L3 {}\n", "caches", cache_size(_SC_LEVEL2_CACHE_SIZE),
             cache_size(_SC_LEVEL3_CACHE_SIZE));
  fmt::print("  {:<22} {}\n", "free memory", format_bytes(static_cast<double>(free_memory_bytes())));
  fmt::print("  {:<22} {:.1f} GB/s (read and written, 32 MiB)\n", "copy", limits.copy_bytes_per_second / 1e9);
  fmt::print("  {:<22} {:.0f} G/s in f32\n", "fused multiply-adds", limits.fma_per_second / 1e9);
  return kDone;
}

}  // namespace

void add_devices_command(CLI::App& program, Context& context) {
  CLI::App* command = program.add_subcommand("devices", "List what a run can compute on.");
  command->footer("Example:  sepconv devices");
  command->callback([&context] { context.action = print_devices; });
}

}  // namespace sepconv::app
