// Backends that lack kernels: what needs these runs on the CPU, or is refused, and is said.
#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <limits>

#include "../io/temporary_folder.hpp"
#include "../simulated_gpu/simulated_gpu.hpp"
#include "../support/image.hpp"
#include "../support/null_io.hpp"
#include "io/deflate/deflater.hpp"
#include "io/memory_image.hpp"
#include "pipeline/gemm/gemm.hpp"
#include "pipeline/measure/measure.hpp"
#include "pipeline/run/device_filter.hpp"
#include "pipeline/run/run_file.hpp"
#include "property_case.hpp"

using namespace sepconv;
using namespace sepconv::test;
using Catch::Contains;

namespace {

/// Installs a backend until the end of the scope.
struct Installed {
  explicit Installed(const DeviceBackend& backend) { install_device_backend(backend); }
  Installed(const Installed&) = delete;
  Installed& operator=(const Installed&) = delete;
  ~Installed() { install_device_backend(simulated::gpu_with_codecs); }
};

/// The simulated GPU without the kernels for which `lacks` is true.
template <class Lacks>
DeviceBackend backend_without(const Lacks& lacks) {
  using enum DeviceKernels;
  DeviceBackend backend = simulated::gpu_with_codecs;
  backend.name = "partial";
  if (lacks(channel_matrices)) backend.mix_channels = nullptr;
  if (lacks(alpha)) backend.alpha.reset();
  if (lacks(nan_search)) backend.find_nan = nullptr;
  if (lacks(resampling)) backend.resample = nullptr;
  if (lacks(ranks)) backend.ranks.reset();
  if (lacks(windows)) backend.window = nullptr;
  if (lacks(disks)) backend.disk = nullptr;
  if (lacks(deviations)) backend.deviation = nullptr;
  if (lacks(transposes)) backend.transpose = nullptr;
  if (lacks(exact_products)) backend.exact_gemm = nullptr;
  if (lacks(products)) backend.products.reset();
  if (lacks(encoders)) backend.encode_tiles = nullptr;
  if (lacks(decoders)) backend.decoders.reset();
  return backend;
}

/// Only the runtime, convolution and pointwise operations.
const DeviceBackend& smallest_backend() {
  static const DeviceBackend backend = backend_without([](DeviceKernels) { return true; });
  return backend;
}

Plan plan_on(const char* stage, const PlanOptions& options) {
  const ImageSpec spec{{300, 200}, 3, PixelType::f32};
  const Chain chain = Chain::parse({"gaussian:sigma=2", stage});
  return plan(NullReader(spec, {}), NullWriter(chain.result_spec(spec), {}), chain, options);
}

/// A host so slow that a GPU is chosen where one can compute.
PlanOptions with_slow_host() {
  PlanOptions options{.threads = 2, .choose_device = true};
  options.machine.host.fma_seconds = 1e-3;
  options.machine.products.host_fma_f64_rate = 1e3;
  return options;
}

bool contains(const std::vector<std::string>& notes, const std::string& note) {
  return std::ranges::find(notes, note) != notes.end();
}

}  // namespace

TEST_CASE("a stage whose kernels the backend lacks runs on the CPU, and a named GPU is refused") {
  const auto [stage, kernels] = GENERATE(table<const char*, const char*>(
      {{"median:radius=1", "rank filters"},
       {"erode:radius=2", "box windows"},
       {"dilate:radius=2,shape=disk", "disk windows"},
       {"tophat:radius=2", "box windows"},
       {"std:radius=2", "box windows and no standard deviations"},
       {"reduce:factor=2", "resampling"},
       {"gaussian:sigma=40,method=multirate", "resampling"},
       {"transpose", "transposes"},
       {"mix_channels:rows=1,values=1,2,3", "channel matrices"},
       {"max:chain=[median:radius=1 | erode:radius=1]", "rank filters and no box windows"}}));
  CAPTURE(stage);
  const std::string text = Chain::parse({stage}).stages().front()->text();
  const std::string reason =
      "stage '" + text + "' does not run on a GPU, because backend 'partial' has no " + kernels;
  CHECK(plan_on(stage, with_slow_host()).devices == std::vector<int>{0});

  const Installed installed(smallest_backend());
  const Plan planned = plan_on(stage, with_slow_host());
  CHECK(planned.devices.empty());
  CHECK(planned.notes.back() == reason + ": the CPU computes");
  CHECK_THROWS_WITH(plan_on(stage, {.devices = {0}}), reason + "; compute on the CPU");
  CHECK_THROWS_WITH(DeviceFilter(Chain::parse({stage}), {{30, 20}, 3, PixelType::f32}),
                    reason + "; apply this chain with apply() or run()");
  CHECK(plan_on("abs", with_slow_host()).devices == std::vector<int>{0});
}

TEST_CASE("launchers that the backend lacks are an error that says so") {
  const Installed installed(smallest_backend());
  float pixel = 1;
  const PixelView view = view_of(&pixel, {1, 1});
  CHECK_THROWS_WITH(transpose_device({1, 1, 1, 4}, {view.data, 4, 4}, {view.data, 4, 4}, nullptr),
                    "backend 'partial' has no transposes; compute on the CPU");
  CHECK(gemm_device_library().empty());
}

TEST_CASE("chains on backends that lack some kernels have the bits of the whole image, or are refused",
          "[property]") {
  std::mt19937_64 random(1);
  int refused = 0;
  for (int index = 0; index < 40; ++index) {
    const PropertyCase c = random_case(random);
    const std::uint64_t subset = random();
    CAPTURE(index, command_line(c), subset);
    const DeviceBackend backend = backend_without(
        [&](DeviceKernels kernels) { return (subset & static_cast<std::uint64_t>(kernels)) != 0; });
    const Installed installed(backend);
    try {
      const bool same = holds(c, {0});
      CHECK(same);
    } catch (const InvalidArgument& error) {  // the chain for missing pixels may need other kernels
      CHECK_THAT(error.what(), Contains("does not run on a GPU, because backend 'partial' has no "));
      ++refused;
    }
  }
  CHECK(refused < 10);
}

TEST_CASE("the CPU codes blocks if the backend has no codecs, with the same bytes") {
  const TemporaryFolder folder;
  const Image image = Image::of_pattern({{200, 300}, 1, PixelType::u16}, Pattern::natural, 1);
  FileLayout layout{
      .tiled = true, .tile = {64, 64}, .compression = Compression::deflate, .level = deflate::kFast};
  run(*image.reader(), *create_writer(folder.path() / "in.tif", image.spec(), {.layout = layout}), Chain());
  const auto filtered = [&](const char* name) {
    const auto source = open_reader(folder.path() / "in.tif");
    const auto sink = create_writer(folder.path() / name, source->spec(), {.layout = layout});
    RunReport report = run(*source, *sink, Chain::parse({"gaussian:sigma=2"}), {{.devices = {0}}, {}});
    std::ifstream file(folder.path() / name, std::ios::binary);
    return std::pair{std::move(report.plan), std::string(std::istreambuf_iterator<char>(file), {})};
  };
  const auto [by_gpu, expected] = filtered("gpu.tif");
  CHECK((by_gpu.decodes_on_devices() && by_gpu.encodes_on_devices()));

  const auto lacking = GENERATE(DeviceKernels::decoders | DeviceKernels::encoders,
                                DeviceKernels::nan_search | DeviceKernels::encoders);
  const DeviceBackend backend =
      backend_without([&](DeviceKernels kernels) { return (lacking | kernels) == lacking; });
  const Installed installed(backend);
  const auto [by_cpu, bytes] = filtered("cpu.tif");
  CHECK(by_cpu.devices == std::vector<int>{0});
  CHECK_FALSE((by_cpu.decodes_on_devices() || by_cpu.encodes_on_devices()));
  CHECK(contains(by_cpu.notes, "the CPU encodes the sink's blocks: backend 'partial' has no encoders"));
  CHECK(contains(by_cpu.notes,
                 lacking_kernels(lacking).find("decoders") != std::string::npos
                     ? "the CPU decodes the source's blocks: backend 'partial' has no decoders"
                     : "the CPU decodes the source's blocks: backend 'partial' has no search for NaN"));
  CHECK(bytes == expected);
}

TEST_CASE("the CPU searches for NaN if the backend cannot") {
  const Installed installed(smallest_backend());
  const HostMemory memory = GENERATE(HostMemory::pageable, HostMemory::page_locked);
  const bool exists = GENERATE(true, false);
  Image image = Image::of_pattern({{200, 100}, 1, PixelType::f32}, Pattern::noise, 1);
  const Image result(image.spec());
  if (exists) image.view().row<float>(150)[7] = std::numeric_limits<float>::quiet_NaN();
  const auto reader = make_memory_reader(image.view(), memory);
  RunOptions options;
  options.devices = {0};
  options.band_rows = 16;
  const RunReport report =
      run(*reader, *result.writer(), Chain::parse({"gaussian:sigma=2,border=wrap"}), options);
  const bool warned = std::ranges::any_of(report.plan.warnings, [](const std::string& warning) {
    return warning.starts_with("the source contains NaN");
  });
  CHECK(warned == exists);
}

TEST_CASE("the CPU multiplies if the backend has no products, and a named GPU is refused") {
  const ImageSpec square{{200, 200}, 1, PixelType::f64};
  const NullReader a(square, {});
  const NullWriter out(square, {});
  CHECK(plan_gemm({}, a, a, nullptr, out, with_slow_host()).devices == std::vector<int>{0});
  const Installed installed(smallest_backend());
  const GemmPlan planned = plan_gemm({}, a, a, nullptr, out, with_slow_host());
  CHECK(planned.devices.empty());
  CHECK(planned.notes.back() == "backend 'partial' has no matrix products: the CPU computes");
  CHECK_THROWS_WITH(plan_gemm({}, a, a, nullptr, out, {.devices = {0}}),
                    "backend 'partial' has no matrix products; compute on the CPU");
}
