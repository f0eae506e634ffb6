// sepconv inside a program that uses OpenCV: cv::Mat as input and output, also a region of interest, without
// a copy. The result is compared with cv::sepFilter2D with the same taps and border.
//
//   example_in_opencv_program
#include <iostream>
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#include <string>
#include <vector>

#include "sepconv/opencv.hpp"
#include "sepconv/sepconv.hpp"

namespace {

cv::Mat noise(int rows, int cols, int type) {
  cv::Mat image(rows, cols, type);
  cv::RNG(7).fill(image, cv::RNG::UNIFORM, 0, 256);
  return image;
}

/// The maximum difference from OpenCV's result in f64, before rounding. BORDER_ISOLATED, because OpenCV's
/// border of a region otherwise uses the pixels around it.
double max_difference(const cv::Mat& photo, const cv::Mat& blurred) {
  const std::vector<double> taps{1 / 16., 4 / 16., 6 / 16., 4 / 16., 1 / 16.};
  cv::Mat expected, actual;
  cv::sepFilter2D(photo, expected, CV_64F, taps, taps, {-1, -1}, 0,
                  cv::BORDER_REFLECT_101 | cv::BORDER_ISOLATED);
  blurred.convertTo(actual, CV_64F);
  return cv::norm(actual, expected, cv::NORM_INF);
}

double max_blur_difference(const cv::Mat& photo) {
  const std::vector<std::string> stages{"binomial:radius=2"};
  const sepconv::Chain blur = sepconv::Chain::parse(stages);
  cv::Mat blurred(photo.size(), photo.type());
  sepconv::apply(blur, sepconv::view_of(photo), sepconv::view_of(blurred));
  return max_difference(photo, blurred);
}

}  // namespace

int main() {
  const cv::Mat colours = noise(301, 403, CV_8UC3);
  const double u8_difference = max_blur_difference(colours);
  const double region_difference = max_blur_difference(colours(cv::Rect(17, 5, 200, 100)));
  const double f32_difference = max_blur_difference(noise(203, 505, CV_32FC1));
  std::cout << "from cv::sepFilter2D in f64: u8 " << u8_difference << ", a region of it " << region_difference
            << ", f32 " << f32_difference << '\n';
  // Integers are rounded once, at the end. f32 sums of values below 256 are accurate to 1e-4.
  return u8_difference <= 0.5001 && region_difference <= 0.5001 && f32_difference < 1e-4 ? 0 : 1;
}
