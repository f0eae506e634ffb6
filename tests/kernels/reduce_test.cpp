// The scale of a histogram, moments of zeros, and the search for NaN on a GPU over views with padded rows.
#include "kernels/reduce/reduce.hpp"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

#include "../support/gpu.hpp"
#include "kernels/pointwise/missing.hpp"
#include "random_image.hpp"

using namespace sepconv;
using sepconv::test::DeviceImage;

namespace {

constexpr PixelType kFloating[] = {PixelType::f32, PixelType::f64};

}  // namespace

TEST_CASE("a minimum and a maximum of zero have no sign") {
  double values[200];
  std::fill_n(values, 200, -0.0);
  const std::int64_t positive = GENERATE(-1, 0, 3, 130, 199);
  if (positive >= 0) values[positive] = 0.0;
  const Moments found = cell_moments(view_of<const double>(values, {1, 200}), 0);
  CHECK((found.min == 0 && !std::signbit(found.min)));
  CHECK((found.max == 0 && !std::signbit(found.max)));
}

TEST_CASE("bins: edges, one value, and what lies outside") {
  const BinScale scale{-1, 1};
  CHECK((scale.bin(-1) == 0 && scale.bin(1) == kBins - 1 && scale.bin(0) == kBins / 2));
  CHECK((scale.bin(1.5) == -1 && scale.bin(std::nan("")) == -1 && scale.bin(-INFINITY) == -1));
  CHECK(BinScale{3, 3}.bin(3) == 0);
  const double max_value = std::numeric_limits<double>::max();
  CHECK((BinScale{-max_value, max_value}.bin(max_value) == kBins - 1 &&
         BinScale{-max_value, max_value}.bin(-max_value) == 0));
}

TEST_CASE("one NaN anywhere is found on a GPU, and none that lies between rows", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(from_range(std::begin(kFloating), std::end(kFloating)));
  const Extent extent =
      GENERATE(Extent{1, 1}, Extent{1, 600}, Extent{9, 255}, Extent{65, 257}, Extent{600, 3});
  CAPTURE(name_of(type), extent.rows, extent.cols);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  Random random(5);
  const Image image({extent.rows + 2, extent.cols + 2}, 2, type);
  const Rect part{1, 1, extent.rows, extent.cols};
  const Buffer flag(sizeof(std::int32_t), pinned_resource());
  auto& found = *reinterpret_cast<std::int32_t*>(flag.data());
  const Stream stream;
  const DeviceImage on_device(image.view, stream.get());
  const auto is_found = [&] {
    on_device.upload(image.view, stream.get());
    found = 0;
    find_nan_device(on_device.view().crop(part), &found, stream.get());
    stream.synchronize();
    return found != 0;
  };
  fill_pixels(image.view, kNan);
  fill_random(image.view.crop(part), random, false);
  CHECK(!is_found());
  for (const Rect& at : {Rect{0, 0, 1, 1}, Rect{extent.rows - 1, extent.cols - 1, 1, 1},
                         Rect{extent.rows / 2, extent.cols / 3, 1, 1}}) {
    fill_random(image.view.crop(part), random, false);
    fill_pixels(image.view.crop(part).crop(at), kNan);
    CHECK(is_found());
  }
  found = 1;
  fill_random(image.view.crop(part), random, false);
  on_device.upload(image.view, stream.get());
  find_nan_device(on_device.view().crop(part), &found, stream.get());
  stream.synchronize();
  CHECK(found == 1);
  const Image whole_numbers({1, 1}, 1, PixelType::u16);
  CHECK_THROWS_AS(find_nan_device(whole_numbers.view, &found, stream.get()), InvalidArgument);
}
