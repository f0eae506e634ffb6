#include "sepconv/thrust.hpp"

#include <thrust/host_vector.h>
#include <thrust/sequence.h>

#include <catch2/catch.hpp>

#include "sepconv/sepconv.hpp"

namespace sepconv {
namespace {

TEST_CASE("a device_vector is an image of dense rows") {
  thrust::device_vector<std::uint16_t> pixels(2 * 5 * 3 + 1, 9);
  const PixelView view = view_of(pixels, {2, 5}, 3);
  CHECK(view.data == reinterpret_cast<std::byte*>(thrust::raw_pointer_cast(pixels.data())));
  CHECK(view.extent == Extent{2, 5});
  CHECK(view.channels == 3);
  CHECK(view.type == PixelType::u16);
  CHECK(view.pitch_bytes == 30);
  const thrust::device_vector<std::uint16_t>& unchanged = pixels;
  const auto same = view_of(unchanged, {2, 5}, 3);
  STATIC_REQUIRE(std::is_same_v<decltype(same), const ConstPixelView>);
  CHECK(same.data == view.data);
}

TEST_CASE("a chain goes from one device_vector to another") {
  thrust::device_vector<float> in(6), out(6, -1.0F);
  thrust::sequence(in.begin(), in.end());
  apply(Chain::parse(std::vector<std::string>{"scale:factor=2"}), view_of(in, {2, 3}), view_of(out, {2, 3}));
  const thrust::host_vector<float> result = out;
  CHECK(result == std::vector<float>{0, 2, 4, 6, 8, 10});
}

TEST_CASE("a device_vector with too few elements is refused") {
  thrust::device_vector<float> pixels(29);
  CHECK_THROWS_AS(view_of(pixels, {2, 5}, 3), InvalidArgument);
  CHECK_THROWS_WITH(view_of(pixels, {2, 5}, 3),
                    "a device_vector of 29 elements does not hold 2 x 5 pixels of 3 channels; resize it");
}

}  // namespace
}  // namespace sepconv
