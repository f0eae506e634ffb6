// Devices, kernel times and types of the bench commands.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "app/option_values.hpp"
#include "bench.hpp"
#include "core/error.hpp"
#include "pipeline/plan/device_choice.hpp"

namespace sepconv::app {

double KernelClock::seconds(const Stream& stream, const std::function<void()>& enqueue) const {
  enqueue();
  begin_.record(stream.get());
  enqueue();
  end_.record(stream.get());
  stream.synchronize();
  return end_.seconds_since(begin_);
}

void choose_bench_gpu(RunOptions& options, const BenchNames& bench) {
  if (!options.choose_device && options.devices.empty()) return;
  if (options.devices.size() > 1 || options.with_cpu) {
    throw InvalidArgument(
        fmt::format("{} measures one GPU at a time; give --device cuda:N with one number", bench.command));
  }
  if (list_devices().empty()) {
    throw InvalidArgument(fmt::format("{} climbs {} on a GPU, and {}; --device cpu measures {} alone",
                                      bench.command, bench.variants, gpu_absence_reason(), bench.host));
  }
  use_gpu_if_available(options);
}

void use_gpu_if_available(RunOptions& options) {
  if (std::exchange(options.choose_device, false) && !list_devices().empty()) options.devices = {0};
  open_devices(options.devices);
}

std::string name_of_gpu(int index) {
  return fmt::format("cuda:{} {}", index, list_devices().at(static_cast<std::size_t>(index)).name);
}

void add_types_option(CLI::App& command, std::vector<PixelType>& types, const std::vector<std::string>& names,
                      const char* help) {
  const auto set_types = [&types](const std::vector<std::string>& chosen) {
    types.clear();
    for (const std::string& name : chosen) types.push_back(*parse_pixel_type(name));
  };
  add_choices(
      command.add_option_function<std::vector<std::string>>("--type", set_types, help)->delimiter(','),
      names);
}

}  // namespace sepconv::app
