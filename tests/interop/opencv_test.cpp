#include "sepconv/opencv.hpp"

#include <catch2/catch.hpp>
#include <opencv2/imgproc.hpp>

#include "sepconv/sepconv.hpp"

namespace sepconv {
namespace {

constexpr int kDepths[] = {CV_8U, CV_16U, CV_16S, CV_32F, CV_64F};

TEST_CASE("a cv::Mat of every type that sepconv has is seen as it is") {
  for (std::size_t i = 0; i < std::size(kDepths); ++i) {
    for (const int channels : {1, 3, 5}) {
      cv::Mat image(4, 7, CV_MAKETYPE(kDepths[i], channels));
      const PixelView view = view_of(image);
      CAPTURE(cv::typeToString(image.type()));
      CHECK(view.data == reinterpret_cast<std::byte*>(image.data));
      CHECK(view.extent == Extent{4, 7});
      CHECK(view.channels == channels);
      CHECK(name_of(view.type) == name_of(kPixelTypes[i]));
      CHECK(view.pixel_bytes() == static_cast<std::int64_t>(image.elemSize()));
      CHECK(view.pitch_bytes == static_cast<std::int64_t>(image.step[0]));
    }
  }
}

TEST_CASE("a region of a cv::Mat is a view with the whole image's pitch") {
  cv::Mat image = cv::Mat::zeros(6, 9, CV_16UC3);
  cv::Mat part = image(cv::Rect(2, 1, 4, 3));
  const PixelView view = view_of(part);
  CHECK(view.extent == Extent{3, 4});
  CHECK(view.pitch_bytes == 9 * 6);
  view.row<std::uint16_t>(2)[3 * 3 + 1] = 77;
  CHECK(image.at<cv::Vec3w>(3, 5)[1] == 77);
  const cv::Mat& unchanged = part;
  STATIC_REQUIRE(std::is_same_v<decltype(view_of(unchanged)), ConstPixelView>);
  CHECK(view_of(unchanged).data == view.data);
}

TEST_CASE("what sepconv has no pixels for is refused") {
  cv::Mat integers(2, 2, CV_32SC3), small(2, 2, CV_8SC1), cube(3, std::vector<int>{2, 3, 4}.data(), CV_8UC1);
  CHECK_THROWS_AS(view_of(small), InvalidArgument);
  CHECK_THROWS_WITH(
      view_of(integers),
      "an image of OpenCV's type CV_32SC3 has no pixels of u8, u16, i16, f32 or f64; convert it "
      "with convertTo()");
  CHECK_THROWS_WITH(view_of(cube), "a cv::Mat of 3 dimensions is not an image; give one of its planes");
  cv::Mat none, out(2, 2, CV_8UC1);
  const Chain chain = Chain::parse(std::vector<std::string>{"abs"});
  CHECK_THROWS_AS(apply(chain, view_of(none), view_of(out)), InvalidArgument);
}

#if __has_include(<opencv2/core/cuda.hpp>)
TEST_CASE("a cv::cuda::GpuMat is a view with its own pitch") {
  std::vector<float> memory(3 * 8);  // never accessed, so host memory is fine
  cv::cuda::GpuMat image(3, 2, CV_32FC3, memory.data(), 8 * sizeof(float));
  const PixelView view = view_of(image);
  CHECK(view.data == reinterpret_cast<std::byte*>(memory.data()));
  CHECK(view.extent == Extent{3, 2});
  CHECK(view.channels == 3);
  CHECK(view.type == PixelType::f32);
  CHECK(view.pitch_bytes == 32);
  const cv::cuda::GpuMat& unchanged = image;
  STATIC_REQUIRE(std::is_same_v<decltype(view_of(unchanged)), ConstPixelView>);
  cv::cuda::GpuMat integers(3, 2, CV_32SC1, memory.data());
  CHECK_THROWS_AS(view_of(integers), InvalidArgument);
}
#endif

}  // namespace
}  // namespace sepconv
