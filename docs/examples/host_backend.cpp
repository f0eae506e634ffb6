// A backend outside of sepconv (docs/adding-a-backend.md), as small as it can be: device memory is host memory,
// work is done when it is enqueued, and there are no kernels but convolution and pointwise operations. The
// program filters a file on it, compares the bytes with the CPU's, and shows what becomes of other stages.
//
//   example_host_backend      in a folder where it may make files
#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "sepconv/backend.hpp"
#include "sepconv/sepconv.hpp"

struct CUstream_st {};
struct CUevent_st {
  std::chrono::steady_clock::time_point recorded{};
};

namespace host_backend {

using namespace sepconv;

constexpr std::int64_t kMemoryBytes = std::int64_t{1} << 30;

thread_local int device_of_thread = 0;

std::vector<DeviceInfo> devices() { return {{.name = "host memory", .memory_bytes = kMemoryBytes}}; }
std::int64_t free_bytes(int) { return kMemoryBytes; }
bool context_exists(int) noexcept { return true; }
void choose(int device) { device_of_thread = device; }
int chosen() { return device_of_thread; }
std::pmr::memory_resource* memory() noexcept { return std::pmr::new_delete_resource(); }

void copy(void* to, std::int64_t to_pitch_bytes, const void* from, std::int64_t from_pitch_bytes,
          std::int64_t row_bytes, std::int64_t rows, DeviceStream) {
  for (std::int64_t row = 0; row < rows; ++row)
    std::memcpy(static_cast<std::byte*>(to) + row * to_pitch_bytes,
                static_cast<const std::byte*>(from) + row * from_pitch_bytes,
                static_cast<std::size_t>(row_bytes));
}
DeviceRates rates(int, std::int64_t) { return {1e9, 1e9, 1e9, 1e9, 1e9, 1e9}; }

DeviceStream make_stream(Stream::Priority) { return new CUstream_st; }
void synchronize_stream(DeviceStream) {}
void destroy_stream(DeviceStream stream) noexcept { delete stream; }

DeviceEvent make_event(Event::Timing) { return new CUevent_st; }
void record(DeviceEvent event, DeviceStream) { event->recorded = std::chrono::steady_clock::now(); }
void make_stream_wait(DeviceEvent, DeviceStream) {}
void synchronize_event(DeviceEvent) {}
double seconds_between(DeviceEvent earlier, DeviceEvent later) {
  return std::chrono::duration<double>(later->recorded - earlier->recorded).count();
}
void destroy_event(DeviceEvent event) noexcept { delete event; }

/// Applies the operations and rounds once, to the type of `out`.
void store(std::span<const PointwiseOp> ops, const PixelView& values, const PixelView& out,
           Arithmetic arithmetic) {
  for (const PointwiseOp& op : ops) pointwise_host(op, values, values, values, arithmetic);
  pointwise_host({}, values, values, out, arithmetic);
}

void pointwise(const PointwiseOp& op, const ConstPixelView& a, const ConstPixelView& b, const PixelView& out,
               Arithmetic arithmetic, DeviceStream, std::span<const PointwiseOp> fused_ops) {
  const ImageSpec spec{out.extent, out.channels, pixel_type_of(arithmetic)};
  Buffer buffer(spec.bytes());
  const PixelView values = dense_view(buffer.data(), spec);
  pointwise_host(op, a, b, values, arithmetic);
  store(fused_ops, values, out, arithmetic);
}

/// Scratch: the values before they are rounded.
std::int64_t convolve_bytes(const SeparableTaps&, Extent out, std::int64_t channels, Arithmetic arithmetic,
                            Extent) {
  return Arena::view_bytes(out, channels, pixel_type_of(arithmetic));
}

void convolve(ConvolutionDesign, const SeparableTaps& taps, const Border& border, const ConstRegion& in,
              const Region& out, Arithmetic arithmetic, Arena& arena, DeviceStream,
              const ConvolutionEpilogue& epilogue) {
  const Arena::Scope scope(arena);
  const Extent extent = out.rect.extent();
  const std::int64_t channels = out.pixels.channels;
  const PixelView values = arena.allocate_view(extent, channels, pixel_type_of(arithmetic));
  Worker worker(Buffer(convolve_scratch_bytes(taps, extent, channels, arithmetic)));
  convolve_host(taps, border, in, {values, out.rect, out.image}, arithmetic, worker);
  if (epilogue.join != nullptr) pointwise_host(*epilogue.join, epilogue.other, values, values, arithmetic);
  store(epilogue.then, values, out.pixels, arithmetic);
}

constexpr DeviceBackend backend{.name = "host memory",
                                .devices = devices,
                                .free_memory_bytes = free_bytes,
                                .has_context = context_exists,
                                .set_current_device = choose,
                                .current_device = chosen,
                                .device_resource = memory,
                                .pinned_resource = memory,
                                .copy_rows = copy,
                                .measure_limits = rates,
                                .make_stream = make_stream,
                                .synchronize_stream = synchronize_stream,
                                .destroy_stream = destroy_stream,
                                .make_event = make_event,
                                .record = record,
                                .make_stream_wait = make_stream_wait,
                                .synchronize_event = synchronize_event,
                                .seconds_between = seconds_between,
                                .destroy_event = destroy_event,
                                .pointwise = pointwise,
                                .convolve = convolve,
                                .convolve_bytes = convolve_bytes};

}  // namespace host_backend

namespace {

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("does not hold: " + what);
}

/// From file to file: the bytes are the CPU's.
void convolve_file() {
  const auto chain = sepconv::Chain::parse({"gaussian:sigma=2", "abs"});
  sepconv::FileOptions overwrite;
  overwrite.output.overwrite = true;
  sepconv::RunOptions options;
  sepconv::run_file("scan.tif", "by-cpu.tif", chain, options, overwrite);
  options.devices = {0};
  options.band_rows = 16;
  const sepconv::RunReport report = sepconv::run_file("scan.tif", "by-device.tif", chain, options, overwrite);
  require(report.plan.devices == std::vector<int>{0}, "the device computes");
  require(bytes_of("by-device.tif") == bytes_of("by-cpu.tif"), "the bytes are the CPU's");
}

/// The backend has no rank filters: the CPU is chosen, and the device is refused.
void refuse_median() {
  const auto chain = sepconv::Chain::parse({"gaussian:sigma=2", "median:radius=1"});
  const std::string reason = "stage '" + chain.stages().back()->text() +
                             "' does not run on a GPU, because backend 'host memory' has no rank filters";
  sepconv::FileOptions overwrite;
  overwrite.output.overwrite = true;
  sepconv::RunOptions options;
  options.choose_device = true;
  const sepconv::Plan plan = sepconv::run_file("scan.tif", "median.tif", chain, options, overwrite).plan;
  require(plan.devices.empty(), "the CPU computes the median");
  require(std::ranges::find(plan.notes, reason + ": the CPU computes") != plan.notes.end(),
          "the plan says why");
  std::string refusal;
  try {
    options.choose_device = false;
    options.devices = {0};
    sepconv::run_file("scan.tif", "median.tif", chain, options, overwrite);
  } catch (const sepconv::InvalidArgument& error) {
    refusal = error.what();
  }
  require(refusal == reason + "; compute on the CPU", "the device is refused");
  std::cout << refusal << '\n';
}

}  // namespace

int main() {
  try {
    sepconv::install_device_backend(host_backend::backend);
    const auto pattern =
        sepconv::make_pattern_reader({{300, 400}, 1, sepconv::PixelType::u16}, sepconv::Pattern::natural, 1);
    const auto scan = sepconv::create_writer("scan.tif", pattern->spec(), {.overwrite = true});
    sepconv::run(*pattern, *scan, sepconv::Chain());
    convolve_file();
    refuse_median();
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "example_host_backend: " << error.what() << '\n';
    return 1;
  }
}
