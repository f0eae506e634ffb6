// convolve_host against an independent implementation, OpenCV's sepFilter2D.
#include <catch2/catch.hpp>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "kernels/conv/conv.hpp"
#include "random_image.hpp"

using namespace sepconv;

namespace {

int cv_depth(PixelType type) {
  constexpr int depths[] = {CV_8U, CV_16U, CV_16S, CV_32F, CV_64F};
  return depths[static_cast<std::size_t>(type)];
}

int cv_border(BorderMode mode) {
  constexpr int borders[] = {cv::BORDER_CONSTANT, cv::BORDER_REPLICATE, cv::BORDER_REFLECT,
                             cv::BORDER_REFLECT_101, cv::BORDER_WRAP};
  return borders[static_cast<std::size_t>(mode)];
}

cv::Mat mat_of(const Image& image) {
  const PixelView& view = image.view;
  return cv::Mat(int(view.extent.rows), int(view.extent.cols),
                 CV_MAKETYPE(cv_depth(view.type), int(view.channels)), view.data,
                 std::size_t(view.pitch_bytes));
}

/// sepFilter2D in f64 on the image extended by copyMakeBorder, so that sepFilter2D's own border has no
/// effect.
cv::Mat oracle(const Image& image, const SeparableTaps& taps, const Border& border) {
  const int margin_rows = int(taps.col_radius());
  const int margin_cols = int(taps.row_radius());
  cv::Mat doubles, extended, filtered;
  mat_of(image).convertTo(doubles, CV_64F);
  cv::copyMakeBorder(doubles, extended, margin_rows, margin_rows, margin_cols, margin_cols,
                     cv_border(border.mode), cv::Scalar::all(border.value));
  cv::sepFilter2D(extended, filtered, CV_64F, taps.row, taps.col);
  return filtered(cv::Rect(margin_cols, margin_rows, doubles.cols, doubles.rows));
}

std::vector<double> random_taps(Random& random, std::int64_t radius) {
  std::vector<double> taps(static_cast<std::size_t>(2 * radius + 1));
  for (double& tap : taps) tap = std::uniform_real_distribution<double>(-0.4, 0.6)(random);
  return taps;
}

double sum_of_magnitudes(const std::vector<double>& taps) {
  double sum = 0;
  for (const double tap : taps) sum += std::fabs(tap);
  return sum;
}

/// Maximum difference from the oracle, divided by the maximum value that the taps could produce from the
/// image.
double relative_error(PixelType type, Arithmetic arithmetic, const Border& border, Extent extent,
                      std::int64_t channels, std::int64_t row_radius, std::int64_t col_radius,
                      Random& random) {
  const SeparableTaps taps{random_taps(random, row_radius), random_taps(random, col_radius)};
  Image image(extent, channels, type);
  fill_random(image.view, random);
  Image out(extent, channels, pixel_type_of(arithmetic));
  out.fill_bytes(0xff);
  Worker worker(Buffer(convolve_scratch_bytes(taps, extent, channels, arithmetic)));
  convolve_host(taps, border, ConstRegion::whole(image.view), Region::whole(out.view), arithmetic, worker);
  cv::Mat actual;
  mat_of(out).convertTo(actual, CV_64F);
  const double largest = std::max(cv::norm(mat_of(image), cv::NORM_INF), std::fabs(border.value));
  return cv::norm(actual, oracle(image, taps, border), cv::NORM_INF) /
         (largest * sum_of_magnitudes(taps.row) * sum_of_magnitudes(taps.col));
}

constexpr BorderMode kBorderModes[] = {BorderMode::constant, BorderMode::replicate, BorderMode::reflect,
                                       BorderMode::reflect101};

}  // namespace

TEST_CASE("convolve_host agrees with sepFilter2D, in every type and border") {
  Random random(31);
  for (const PixelType type : kPixelTypes) {
    for (const BorderMode mode : kBorderModes) {
      for (const auto& [row_radius, col_radius] : {std::pair{1, 1}, {3, 2}, {0, 9}, {8, 0}, {40, 25}}) {
        const Border border{mode, 12.5};
        const Extent extent{47, 83};
        INFO(name_of(type) << ", " << name_of(mode) << ", radii " << row_radius << " and " << col_radius);
        CHECK(relative_error(type, Arithmetic::f64, border, extent, 3, row_radius, col_radius, random) <
              1e-12);
        CHECK(relative_error(type, Arithmetic::f32, border, extent, 1, row_radius, col_radius, random) <
              1e-5);
      }
    }
  }
}

TEST_CASE("convolve_host agrees with sepFilter2D where the radius is beyond the image") {
  Random random(32);
  for (const BorderMode mode : kBorderModes) {
    for (const Extent extent : {Extent{1, 1}, Extent{1, 9}, Extent{5, 2}, Extent{7, 11}}) {
      CHECK(relative_error(PixelType::f64, Arithmetic::f64, {mode, -3}, extent, 2, 20, 15, random) < 1e-12);
    }
  }
}

TEST_CASE("convolve_host stores u8 as sepFilter2D rounds its sums") {
  Random random(33);
  const SeparableTaps taps{{0.113, 0.207, 0.361, 0.206, 0.113}, {0.2511, 0.4987, 0.2502}};
  Image image({61, 77}, 3, PixelType::u8);
  fill_random(image.view, random);
  Image out({61, 77}, 3, PixelType::u8);
  Worker worker(Buffer(convolve_scratch_bytes(taps, {61, 77}, 3, Arithmetic::f32)));
  for (const BorderMode mode : kBorderModes) {
    convolve_host(taps, {mode, 0}, ConstRegion::whole(image.view), Region::whole(out.view), Arithmetic::f32,
                  worker);
    cv::Mat opencv_result;  // with OpenCV's border and conversion to u8
    cv::sepFilter2D(mat_of(image), opencv_result, CV_8U, taps.row, taps.col, {-1, -1}, 0,
                    cv_border(mode) | cv::BORDER_ISOLATED);
    CHECK(cv::norm(mat_of(out), opencv_result, cv::NORM_INF) <= 1);
    cv::Mat rounded;
    oracle(image, taps, {mode, 0}).convertTo(rounded, CV_8U);
    CHECK(cv::norm(mat_of(out), rounded, cv::NORM_INF) <= 1);
    CHECK(cv::norm(mat_of(out), rounded, cv::NORM_L1) <= 20);  // only where a sum is close to a half
  }
}

TEST_CASE("convolve_reference wraps as sepFilter2D of an image extended by BORDER_WRAP") {
  Random random(34);
  for (const Extent extent : {Extent{1, 1}, Extent{1, 9}, Extent{5, 2}, Extent{7, 11}, Extent{47, 83}}) {
    for (const auto& [row_radius, col_radius] : {std::pair{1, 1}, {3, 2}, {0, 9}, {8, 0}, {25, 20}}) {
      const SeparableTaps taps{random_taps(random, row_radius), random_taps(random, col_radius)};
      Image image(extent, 2, PixelType::f64);
      fill_random(image.view, random);
      Image out(extent, 2, PixelType::f64);
      out.fill_bytes(0xff);
      const Border border{BorderMode::wrap, 0};
      convolve_reference(taps, border, ConstRegion::whole(image.view), Region::whole(out.view),
                         Arithmetic::f64);
      const double largest =
          cv::norm(mat_of(image), cv::NORM_INF) * sum_of_magnitudes(taps.row) * sum_of_magnitudes(taps.col);
      CHECK(cv::norm(mat_of(out), oracle(image, taps, border), cv::NORM_INF) <= 1e-12 * largest);
    }
  }
}
