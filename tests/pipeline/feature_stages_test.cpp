// Stages of features and math: bands give the bytes of the whole image, with any border, type and missing pixels.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "../support/gpu.hpp"
#include "property_case.hpp"

using namespace sepconv;
using namespace sepconv::test;

namespace {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::uint64_t kCases = 40;
#else
constexpr std::uint64_t kCases = 160;
#endif

template <class T>
const T& pick(std::mt19937_64& random, const std::vector<T>& all) {
  return all[random() % all.size()];
}

std::string random_feature(std::mt19937_64& random) {
  const auto border =
      pick<std::string>(random, {"constant,value=3", "replicate", "reflect", "reflect101", "wrap"});
  const auto sigma = pick<std::string>(random, {"0.7", "1.5", "3"});
  switch (random() % 6) {
    case 0:
      return fmt::format("hessian:sigma={},{},border={}", sigma,
                         pick<std::string>(random, {"eigenvalue=1", "eigenvalue=2", "element=xx",
                                                    "element=xy", "element=yy", "determinant=true"}),
                         border);
    case 1:
      return fmt::format("structure_tensor:sigma={},{},border={}", sigma,
                         pick<std::string>(random, {"eigenvalue=1", "eigenvalue=2", "element=xx",
                                                    "element=xy", "element=yy", "coherence=true"}),
                         border);
    case 2:
      return fmt::format("sato:sigmas=1,{},ridges={},border={}", sigma,
                         pick<std::string>(random, {"bright", "dark"}), border);
    case 3:
      return fmt::format("guided:radius={},radius_y={},eps={},border={}{}", random() % 9, random() % 9,
                         pick<std::string>(random, {"0.5", "100"}), border,
                         pick<std::string>(random, {"", ",nodata=ignore", ",nodata=propagate"}));
    case 4:
      return fmt::format("correlate:kernel=[[1,0,{}],[-1,2,0.5],[3,0,1]],terms=3,border={}", random() % 5,
                         border);
    default:
      return fmt::format("local_range:radius={},radius_y={},border={}{}", random() % 9, random() % 9, border,
                         pick<std::string>(random, {"", ",shape=disk", ",nodata=propagate"}));
  }
}

#ifndef SEPCONV_SIMULATED_GPU  // these run on the CPU
std::string random_kernel(std::mt19937_64& random) {
  std::string kernel;
  const std::int64_t rows = 1 + 2 * static_cast<std::int64_t>(random() % 5);
  const std::int64_t cols = 1 + 2 * static_cast<std::int64_t>(random() % 5);
  for (std::int64_t y = 0; y < rows; ++y) {
    kernel += y == 0 ? "[" : ",[";
    for (std::int64_t x = 0; x < cols; ++x)
      kernel += fmt::format("{}{}", x == 0 ? "" : ",", 1 + random() % 9);
    kernel += "]";
  }
  return fmt::format("correlate:kernel=[{}],border={}{}", kernel,
                     pick<std::string>(random, {"constant,value=3", "replicate", "reflect", "wrap"}),
                     pick<std::string>(random, {"", ",nodata=ignore", ",nodata=fill", ",flip=true"}));
}

std::string random_math(std::mt19937_64& random) {
  return "math:expr=" + pick<std::string>(random, {"(x-20)*1.5", "[where(x>=40,x,-x)/(b1+1)]",
                                                   "[max(b1,isnan(b1))-sqrt(abs(b1))]", "[min(x,b1)*nan]",
                                                   "1-(b1<30)", "[where(isnan(b1),0,b1)]", "b1/0", "2"});
}
#endif

void check_cases(std::uint64_t seed, const std::vector<int>& devices,
                 std::string (*random_stage)(std::mt19937_64&), std::uint64_t cases = kCases) {
  for (std::uint64_t index = 0; index < cases; ++index) {
    std::mt19937_64 random(seed * 1000003 + index);
    PropertyCase c = random_case(random);
    c.matrix = c.second = {};
    c.depth = 0;
    c.planes = 1;
    c.stages = {random_stage(random)};
    if (random() % 2 == 0) c.stages.insert(c.stages.begin(), "transpose");
    if (random() % 2 == 0) c.stages.push_back("box:radius=2");
    INFO("seed " << seed << ", case " << index << "\n" << command_line(c));
    CHECK(holds(c, devices));
  }
}

}  // namespace

#ifndef SEPCONV_SIMULATED_GPU
TEST_CASE("stages of features in bands equal the whole image", "[property]") {
  check_cases(31, {}, random_feature);
}

TEST_CASE("kernels in bands equal the whole image", "[property]") { check_cases(34, {}, random_kernel); }

TEST_CASE("math in bands equals the whole image", "[property]") { check_cases(32, {}, random_math); }
#endif

TEST_CASE("stages of features through a GPU equal the whole image", "[property][gpu]") {
  SEPCONV_NEEDS_GPU();
  check_cases(33, {0}, random_feature);
}

TEST_CASE("stages of features through a GPU equal the whole image, a few cases",
          "[property][gpu][sanitize]") {
  SEPCONV_NEEDS_GPU();
  check_cases(from_environment("SEPCONV_PROPERTY_SEED", 35), {0}, random_feature,
              from_environment("SEPCONV_PROPERTY_CASES", 3));
}
