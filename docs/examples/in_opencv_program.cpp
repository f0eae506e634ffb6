// sepconv inside a program that uses OpenCV: cv::Mat in and out, a region of interest too, without a copy.
// The result is compared with that of cv::sepFilter2D, which has the same taps and the same border.
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

/// How far the result is from what OpenCV computes of the same pixels in f64, before it rounds. OpenCV's
/// border of an image is that of the pixels around it, if it is a region, unless told otherwise.
double greatest_difference(const cv::Mat& photo, const cv::Mat& blurred) {
  const std::vector<double> taps{1 / 16., 4 / 16., 6 / 16., 4 / 16., 1 / 16.};
  cv::Mat expected, found;
  cv::sepFilter2D(photo, expected, CV_64F, taps, taps, {-1, -1}, 0,
                  cv::BORDER_REFLECT_101 | cv::BORDER_ISOLATED);
  blurred.convertTo(found, CV_64F);
  return cv::norm(found, expected, cv::NORM_INF);
}

double difference_of(const cv::Mat& photo) {
  const std::vector<std::string> stages{"binomial:radius=2"};
  const sepconv::Chain blur = sepconv::Chain::parse(stages);
  cv::Mat blurred(photo.size(), photo.type());
  sepconv::apply(blur, sepconv::view_of(photo), sepconv::view_of(blurred));
  return greatest_difference(photo, blurred);
}

}  // namespace

int main() {
  const cv::Mat colours = noise(301, 403, CV_8UC3);
  const double of_bytes = difference_of(colours);
  const double of_region = difference_of(colours(cv::Rect(17, 5, 200, 100)));
  const double of_floats = difference_of(noise(203, 505, CV_32FC1));
  std::cout << "from cv::sepFilter2D in f64: u8 " << of_bytes << ", a region of it " << of_region << ", f32 "
            << of_floats << '\n';
  // Integers are rounded once, at the end. Sums in f32 of values below 256 are right to 1e-4.
  return of_bytes <= 0.5001 && of_region <= 0.5001 && of_floats < 1e-4 ? 0 : 1;
}
