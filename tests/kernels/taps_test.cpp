// The named filters' taps against SciPy's results and OpenCV's documentation.
#include "kernels/conv/taps.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/error.hpp"

using namespace sepconv;

namespace {

struct GaussianCase {
  double sigma;
  std::int64_t radius;
  int order;
  std::vector<double> taps;
};

const GaussianCase kGaussians[] = {
#include "gaussian_expected.inc"
};

/// Distance in units in the last place (ULP) of the larger value.
double ulps_between(double a, double b) {
  const double larger = std::max(std::fabs(a), std::fabs(b));
  return std::fabs(a - b) / (std::nextafter(larger, std::numeric_limits<double>::infinity()) - larger);
}

}  // namespace

TEST_CASE("gaussian taps are SciPy's") {
  for (const GaussianCase& expected : kGaussians) {
    const std::vector<double> taps = gaussian_taps(expected.sigma, expected.radius, expected.order);
    REQUIRE(taps.size() == expected.taps.size());
    for (std::size_t i = 0; i < taps.size(); ++i) {
      INFO("sigma " << expected.sigma << ", order " << expected.order << ", tap " << i);
      // NumPy's exp has an error of up to 1 ULP, which the division can double. A derivative's polynomial
      // multiplies the error and cancels near its zeros.
      CHECK(ulps_between(taps[i], expected.taps[i]) <= (expected.order == 0 ? 2 : 4));
    }
  }
}

TEST_CASE("the first derivative rises where the image does") {
  const std::vector<double> taps = gaussian_taps(1, 3, 1);
  CHECK(taps[2] < 0);
  CHECK(taps[4] > 0);
}

TEST_CASE("gaussian radius is SciPy's") {
  CHECK(gaussian_radius(1) == 4);
  CHECK(gaussian_radius(2.5) == 10);
  CHECK(gaussian_radius(0.1) == 0);
  CHECK(gaussian_radius(0.125) == 1);
  CHECK(gaussian_radius(3, 1.5) == 5);
  CHECK(gaussian_radius(1000, 4) == 4000);
}

TEST_CASE("gaussians that cannot be are refused") {
  for (const double sigma : {-1.0, double(NAN), double(INFINITY)}) {
    CHECK_THROWS_AS(gaussian_taps(sigma, 3), InvalidArgument);
    CHECK_THROWS_AS(gaussian_radius(sigma), InvalidArgument);
  }
  CHECK_THROWS_AS(gaussian_radius(1e9), InvalidArgument);
  CHECK_THROWS_AS(gaussian_radius(1, -1), InvalidArgument);
  CHECK_THROWS_AS(gaussian_radius(1, NAN), InvalidArgument);
  CHECK_THROWS_AS(gaussian_taps(1, -1), InvalidArgument);
  CHECK_THROWS_AS(gaussian_taps(1, kMaxRadius + 1), InvalidArgument);
  CHECK_THROWS_AS(gaussian_taps(1, 3, 4), InvalidArgument);
  CHECK_THROWS_AS(gaussian_taps(1e-170, 1, 2), InvalidArgument);
}

TEST_CASE("a sigma that squares to nothing still makes the identity") {
  CHECK(gaussian_taps(1e-200, 2) == std::vector<double>{0, 0, 1, 0, 0});
}

TEST_CASE("box and binomial taps") {
  CHECK(box_taps(0) == std::vector<double>{1});
  CHECK(box_taps(1) == std::vector<double>(3, 1.0 / 3));
  CHECK(binomial_taps(0) == std::vector<double>{1});
  CHECK(binomial_taps(1) == std::vector<double>{0.25, 0.5, 0.25});
  CHECK(binomial_taps(2) == std::vector<double>{1 / 16.0, 4 / 16.0, 6 / 16.0, 4 / 16.0, 1 / 16.0});
  const std::vector<double> widest = binomial_taps(512);
  CHECK(widest.front() == std::ldexp(1.0, -1024));
  CHECK(std::accumulate(widest.begin(), widest.end(), 0.0) == Approx(1).epsilon(1e-12));
  CHECK_THROWS_AS(binomial_taps(513), InvalidArgument);
  CHECK_THROWS_AS(box_taps(-1), InvalidArgument);
}

TEST_CASE("differences are those of OpenCV's getDerivKernels") {
  CHECK(difference_taps() == std::vector<double>{-1, 0, 1});
  CHECK(sobel_smoothing_taps() == std::vector<double>{1, 2, 1});
  CHECK(scharr_smoothing_taps() == std::vector<double>{3, 10, 3});
  CHECK(derivative_taps(0, 1) == std::vector<double>{1, 2, 1});
  CHECK(derivative_taps(1, 1) == std::vector<double>{-1, 0, 1});
  CHECK(derivative_taps(2, 1) == std::vector<double>{1, -2, 1});
  CHECK(derivative_taps(1, 2) == std::vector<double>{-1, -2, 0, 2, 1});
  CHECK(derivative_taps(2, 2) == std::vector<double>{1, 0, -2, 0, 1});
  CHECK(derivative_taps(3, 3) == std::vector<double>{-1, 0, 3, 0, -3, 0, 1});
  CHECK_THROWS_AS(derivative_taps(3, 1), InvalidArgument);
  CHECK_THROWS_AS(derivative_taps(-1, 1), InvalidArgument);
}
