// A backend outside the source tree: the simulated GPU of sepconv's tests, built from the installed package
// alone. A run on its two devices must give the CPU's bytes.
#include <cstdint>
#include <iostream>
#include <sepconv/backend.hpp>
#include <sepconv/sepconv.hpp>
#include <string>
#include <vector>

#include "simulated_gpu.hpp"

int main() {
  sepconv::install_device_backend(sepconv::simulated::gpu);
  constexpr sepconv::Extent kExtent{300, 211};
  std::vector<std::uint16_t> source(kExtent.area());
  for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::uint16_t>(i * 40503);
  std::vector<std::uint16_t> on_cpu(source.size()), on_backend(source.size());
  const std::vector<std::string> stages{"gaussian:sigma=2", "abs"};
  const sepconv::Chain chain = sepconv::Chain::parse(stages);
  const auto in = sepconv::view_of<const std::uint16_t>(source.data(), kExtent);
  sepconv::apply(chain, in, sepconv::view_of(on_cpu.data(), kExtent));

  sepconv::RunOptions options;
  options.devices = {0, 1};
  options.band_rows = 16;
  const auto reader = sepconv::make_memory_reader(in);
  const auto writer = sepconv::make_memory_writer(sepconv::view_of(on_backend.data(), kExtent));
  const sepconv::RunReport report = sepconv::run(*reader, *writer, chain, options);
  if (report.plan.devices.size() != 2 || on_backend != on_cpu) {
    std::cerr << "a backend outside the source tree: the result differs from the CPU's\n";
    return 1;
  }
  std::cout << "ok: a custom backend\n";
}
