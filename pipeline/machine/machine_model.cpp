#include "pipeline/machine/machine_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "pipeline/machine/codec_rates.hpp"
#include "pipeline/machine/host_resources.hpp"

namespace sepconv {
namespace {

// Fraction of the separately measured multiply-add and copy rates that filters reach: docs/benchmarks.md.
constexpr double kFilterEfficiency = 0.75;
constexpr double kBusEfficiency = 0.97;
// The measured tile stays in the cache. Tiles of files are coded half as fast because they are also copied:
// docs/measurements/2026-11-24-zstd-fast.md.
constexpr double kCodecEfficiency = 0.5;

void apply_host_limits(const MachineLimits& limits, HostModel& host) {
  const double fma_f32 = limits.host.fma_per_second;
  if (limits.host.copy_bytes_per_second > 0) {
    host.copy_rate = limits.host.copy_bytes_per_second / limits.threads;
    host.max_copy_rate = limits.host.copy_bytes_per_second;
  }
  if (fma_f32 > 0) host.fma_seconds = limits.threads / (kFilterEfficiency * fma_f32);
  if (fma_f32 > 0 && limits.fma_f64_per_second > 0) host.wide = fma_f32 / limits.fma_f64_per_second;
}

void apply_codec_limits(const MachineLimits& limits, FileModel& files) {
  for (const FileModel::Codec& measured : limits.codecs) {
    const auto codec = std::ranges::find(files.codecs, measured.name, &FileModel::Codec::name);
    if (codec == files.codecs.end()) continue;
    if (measured.decode_rate > 0) codec->decode_rate = kCodecEfficiency * measured.decode_rate;
    if (measured.encode_rate > 0) codec->encode_rate = kCodecEfficiency * measured.encode_rate;
  }
}

void apply_device_limits(const DeviceRates& limits, MachineModel& model) {
  if (limits.upload_bytes_per_second > 0)
    model.bus.one_way_rate = kBusEfficiency * limits.upload_bytes_per_second;
  if (limits.duplex_bytes_per_second > 0)
    model.bus.both_ways_rate = kBusEfficiency * limits.duplex_bytes_per_second;
  if (limits.copy_bytes_per_second > 0) {
    const double speedup = limits.copy_bytes_per_second / DeviceModel().copy_rate;
    model.device.copy_rate = limits.copy_bytes_per_second;
    for (DeviceModel::Codec& codec : model.device.codecs)
      codec.decode_rate *= speedup, codec.wide_decode_rate *= speedup, codec.encode_rate *= speedup;
  }
  if (limits.fma_f32_per_second > 0)
    model.device.fma_seconds = 1 / (kFilterEfficiency * limits.fma_f32_per_second);
  if (limits.fma_f32_per_second > 0 && limits.fma_f64_per_second > 0)
    model.device.wide = limits.fma_f32_per_second / limits.fma_f64_per_second;
}

}  // namespace

double FileModel::level_time_factor(std::string_view codec, int level) noexcept {
  constexpr std::array kDeflate{0.31, 0.5, 0.57, 0.62, 0.8, 1.0, 1.4, 2.3, 2.9, 4.2, 5.2, 6.4};
  constexpr std::array kZstd{1.0, 1.5, 2.6, 4.6,  5.3,  6.4,  6.7,  11.0, 12.0, 15.0, 23.0,
                             28., 55., 70., 70.0, 80.0, 80.0, 80.0, 80.0, 80.0, 80.0, 80.0};
  const auto at = [&](const auto& times) {
    return times[static_cast<std::size_t>(std::clamp<int>(level, 1, std::ssize(times)) - 1)];
  };
  return codec == "deflate" ? at(kDeflate) : codec == "zstd" ? at(kZstd) : 1;
}

MachineLimits measure_limits(int threads, int device) {
  MachineLimits limits{.threads = threads > 0 ? threads : usable_processors()};
  limits.host = measure_host_limits(limits.threads);
  limits.fma_f64_per_second = measure_fma_rate(limits.threads, Arithmetic::f64);
  limits.codecs = measure_codecs();
  if (device >= 0) limits.device = measure_device_limits(device);
  return limits;
}

MachineModel model_from_limits(const MachineLimits& limits) {
  MachineModel model;
  apply_host_limits(limits, model.host);
  apply_codec_limits(limits, model.files);
  apply_device_limits(limits.device, model);
  return model;
}

std::vector<MachineRate> host_model_values(const MachineModel& model) {
  using enum MachineRate::Unit;
  std::vector<MachineRate> figures{{"host.copy_rate", bytes_per_second, model.host.copy_rate},
                                   {"host.max_copy_rate", bytes_per_second, model.host.max_copy_rate},
                                   {"host.fma_seconds", seconds, model.host.fma_seconds},
                                   {"host.wide", times, model.host.wide}};
  for (const std::string_view name : kMeasuredCodecs) {
    const auto* const codec = std::ranges::find(model.files.codecs, name, &FileModel::Codec::name);
    figures.push_back({fmt::format("files.{}.decode_rate", name), bytes_per_second, codec->decode_rate});
    if (name != "deflate")
      figures.push_back({fmt::format("files.{}.encode_rate", name), bytes_per_second, codec->encode_rate});
  }
  return figures;
}

std::vector<MachineRate> device_model_values(const MachineModel& model) {
  using enum MachineRate::Unit;
  std::vector<MachineRate> figures{{"bus.one_way_rate", bytes_per_second, model.bus.one_way_rate},
                                   {"bus.both_ways_rate", bytes_per_second, model.bus.both_ways_rate},
                                   {"device.copy_rate", bytes_per_second, model.device.copy_rate},
                                   {"device.fma_seconds", seconds, model.device.fma_seconds},
                                   {"device.wide", times, model.device.wide}};
  for (const DeviceModel::Codec& codec : model.device.codecs) {
    const auto add = [&](const char* rate, double value) {
      figures.push_back({fmt::format("device.{}.{}", codec.name, rate), bytes_per_second, value});
    };
    add("decode_rate", codec.decode_rate), add("wide_decode_rate", codec.wide_decode_rate);
    add("encode_rate", codec.encode_rate);
  }
  return figures;
}

}  // namespace sepconv
