// Results and errors for callers if no GPU backend is installed.
#include "kernels/device/backend.hpp"

#include <catch2/catch.hpp>

#include "core/memory.hpp"
#include "kernels/device/profiler_range.hpp"

namespace sepconv {
namespace {

using Catch::Matchers::Contains;

TEST_CASE("a build without a CUDA engine answers questions and says why it launches nothing") {
  if (find_device_backend() != nullptr) {
    CHECK(&device_backend() == find_device_backend());
    CHECK(backend_has(DeviceKernels::all));
    return;
  }
  CHECK_FALSE(backend_has(DeviceKernels::none));
  CHECK(lacking_kernels(DeviceKernels::all).empty());
  CHECK(list_devices().empty());
  CHECK(gemm_device_library().empty());
  CHECK_FALSE(convolve_device_fits({{1}, {1}}, 1, PixelType::f32, Arithmetic::f32));
  CHECK_THROWS_AS(Buffer(1, device_resource()), OutOfMemory);
  CHECK_THROWS_AS(Buffer(1, pinned_resource()), OutOfMemory);
  const ProfilerRange range("read", 0);

  float pixel = 1;
  const PixelView view = view_of(&pixel, {1, 1});
  const auto reason = Contains("this build has no CUDA engine");
  CHECK_THROWS_WITH(Stream(), reason);
  CHECK_THROWS_WITH(DeviceScope(0), reason);
  CHECK_THROWS_WITH(copy_rows(&pixel, 4, &pixel, 4, 4, 1, nullptr), reason);
  CHECK_THROWS_WITH(pointwise_device({}, view, view, view, Arithmetic::f32, nullptr), reason);
  CHECK_THROWS_WITH(transpose_device({1, 1, 1, 4}, {view.data, 4, 4}, {view.data, 4, 4}, nullptr), reason);
}

TEST_CASE("launchers check their arguments before they ask for a GPU") {
  float pixels[2] = {1, 2};
  const PixelView one = view_of(pixels, {1, 1}), two = view_of(pixels, {1, 2});
  CHECK_THROWS_AS(pointwise_device({}, one, one, two, Arithmetic::f32, nullptr), InvalidArgument);
  CHECK_THROWS_AS(transpose_device({1, -1, 1, 4}, {}, {}, nullptr), InvalidArgument);
  const EncodedTiles tiles{{1, 1}, 1, PixelType::f32};
  EncodedTiles u8 = tiles, swapped = tiles, strips = tiles, unknown = tiles;
  u8.type = PixelType::u8, swapped.big_endian = true, strips.pads = false, unknown.predictor = 4;
  for (const EncodedTiles& wrong : {u8, swapped, strips, unknown})
    CHECK_THROWS_AS(encode_tiles_device(two, wrong, nullptr, nullptr, nullptr, nullptr), InvalidArgument);
  const ChannelMatrix large{60, 60, std::vector<double>(3600), std::vector<double>(60)};
  const ImageSpec spec{{1, 1}, 60, PixelType::f32};
  const PixelView pixel = dense_view(reinterpret_cast<std::byte*>(pixels), spec);
  CHECK_THROWS_WITH(mix_channels_device(large, pixel, pixel, Arithmetic::f32, nullptr),
                    Contains("3660 numbers cannot be applied on a GPU, whose maximum is 3600"));
}

}  // namespace
}  // namespace sepconv
