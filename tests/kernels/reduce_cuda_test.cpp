// Reductions on a GPU over views with padded rows, against the CPU's and against plain loops.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <iterator>
#include <vector>

#include "../support/gpu.hpp"
#include "kernels/pointwise/missing.hpp"
#include "kernels/reduce/reduce.hpp"
#include "random_image.hpp"

using namespace sepconv;
using sepconv::test::DeviceImage;

namespace {

constexpr PixelType kFloating[] = {PixelType::f32, PixelType::f64};
constexpr PixelType kIntegers[] = {PixelType::u8, PixelType::u16, PixelType::i16};

/// `count` elements of device memory, each initialised to `value`, with a host copy.
template <class T>
class DeviceArray {
 public:
  DeviceArray(std::size_t count, const T& value)
      : values_(count, value), memory_(bytes(), device_resource()) {
    copy(memory_.data(), values_.data());
  }
  T* data() const { return reinterpret_cast<T*>(memory_.data()); }
  const std::vector<T>& fetch() {
    copy(values_.data(), memory_.data());
    return values_;
  }

 private:
  std::int64_t bytes() const { return static_cast<std::int64_t>(values_.size() * sizeof(T)); }
  void copy(void* to, const void* from) const {
    const Stream stream;
    copy_rows(to, 0, from, 0, bytes(), 1, stream.get());
    stream.synchronize();
  }
  std::vector<T> values_;
  Buffer memory_;
};

bool same_bits(const Moments& a, const Moments& b) {
  const auto same = [](double x, double y) {
    return std::memcmp(&x, &y, sizeof x) == 0 || (std::isnan(x) && std::isnan(y));
  };
  return a.count == b.count && a.nan_count == b.nan_count && same(a.min, b.min) && same(a.max, b.max) &&
         same(a.about, b.about) && same(a.sum, b.sum) && same(a.squares, b.squares);
}

/// Calls visit(channel, value as double) for every element.
template <class Visit>
void for_each_element(const ConstPixelView& view, Visit&& visit) {
  visit_pixel_type(view.type, [&]<class T>(std::type_identity<T>) {
    for (std::int64_t row = 0; row < view.extent.rows; ++row) {
      const T* values = view.row<T>(row);
      for (std::int64_t i = 0; i < view.row_elements(); ++i) {
        visit(static_cast<std::size_t>(i % view.channels), static_cast<double>(values[i]));
      }
    }
  });
}

}  // namespace

TEST_CASE("moments of cells on a GPU have the bits of the CPU's", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(from_range(std::begin(kFloating), std::end(kFloating)));
  const std::int64_t channels = GENERATE(1, 2, 5);
  const Extent cell = GENERATE(Extent{1, 1}, Extent{3, 127}, Extent{2, 128}, Extent{1, 129}, Extent{40, 300});
  const bool special = GENERATE(false, true);
  CAPTURE(name_of(type), channels, cell.rows, cell.cols, special);
  Random random(7);
  const Image image({37, 261}, channels, type);
  fill_random(image.view, random, special);
  const Stream stream;
  const DeviceImage on_device(image.view, stream.get());
  const Rect part{1, 2, 35, 257};  // rows are not contiguous, and the first is not aligned
  const auto cells =
      static_cast<std::size_t>(ceil_div(part.rows, cell.rows) * ceil_div(part.cols, cell.cols) * channels);
  DeviceArray<Moments> moments(cells, Moments{-1, -1, 0, 0, 0, 0, 0});
  cell_moments_device(on_device.view().crop(part), cell, moments.data(), stream.get());
  stream.synchronize();
  const std::vector<Moments>& found = moments.fetch();
  std::size_t wrong = 0, index = 0;
  for (std::int64_t row = 0; row < part.rows; row += cell.rows) {
    for (std::int64_t col = 0; col < part.cols; col += cell.cols) {
      const Rect rect = Rect{row, col, cell.rows, cell.cols}.intersect(Rect::whole(part.extent()));
      for (std::int64_t channel = 0; channel < channels; ++channel) {
        const ConstPixelView pixels = image.view.crop(part).crop(rect);
        wrong += !same_bits(found[index++], cell_moments(pixels, channel));
      }
    }
  }
  CHECK(index == cells);
  CHECK(wrong == 0);
}

TEST_CASE("a minimum and a maximum of zero have no sign") {
  double values[200];
  std::fill_n(values, 200, -0.0);
  const std::int64_t positive = GENERATE(-1, 0, 3, 130, 199);
  if (positive >= 0) values[positive] = 0.0;
  const Moments found = cell_moments(view_of<const double>(values, {1, 200}), 0);
  CHECK((found.min == 0 && !std::signbit(found.min)));
  CHECK((found.max == 0 && !std::signbit(found.max)));
}

TEST_CASE("values counted on a GPU are those of a plain loop, and are added to the existing counts",
          "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(from_range(std::begin(kIntegers), std::end(kIntegers)));
  const std::int64_t channels = GENERATE(1, 3, 48, 49);  // u8: tables are in shared memory up to 48 channels
  CAPTURE(name_of(type), channels);
  Random random(3);
  const Image image({41, 301}, channels, type);
  fill_random(image.view, random, false);
  const Stream stream;
  const DeviceImage on_device(image.view, stream.get());
  const Rect part{1, 3, 39, 297};
  const auto values = static_cast<std::size_t>(value_count(type));
  const std::size_t size = static_cast<std::size_t>(channels) * values;
  DeviceArray<std::int64_t> counts(size, std::int64_t{5} << 40);
  count_values_device(on_device.view().crop(part), counts.data(), stream.get());
  stream.synchronize();
  std::vector<std::int64_t> expected(size, std::int64_t{5} << 40);
  const double min_value = type == PixelType::i16 ? -32768 : 0;
  for_each_element(image.view.crop(part), [&](std::size_t channel, double value) {
    ++expected[channel * values + static_cast<std::size_t>(value - min_value)];
  });
  CHECK(counts.fetch() == expected);
}

TEST_CASE("bins counted on a GPU are those of a plain loop", "[gpu]") {
  SEPCONV_NEEDS_GPU();
  const PixelType type = GENERATE(from_range(std::begin(kFloating), std::end(kFloating)));
  const std::int64_t channels = GENERATE(1, 4, 49);
  CAPTURE(name_of(type), channels);
  Random random(4);
  const Image image({23, 259}, channels, type);
  fill_random(image.view, random, true);
  const Stream stream;
  const DeviceImage on_device(image.view, stream.get());
  DeviceArray<BinScale> scales(static_cast<std::size_t>(channels), BinScale{-299.5, 211.25});
  const std::size_t size = static_cast<std::size_t>(channels) * kBins;
  DeviceArray<std::int64_t> counts(size, 0);
  count_bins_device(on_device.view(), scales.data(), counts.data(), stream.get());
  stream.synchronize();
  std::vector<std::int64_t> expected(size, 0);
  for_each_element(image.view, [&](std::size_t channel, double value) {
    const int bin = BinScale{-299.5, 211.25}.bin(value);
    if (bin >= 0) ++expected[channel * kBins + static_cast<std::size_t>(bin)];
  });
  CHECK(counts.fetch() == expected);
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
