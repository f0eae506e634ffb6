// Resampling: windows and weights against their definition, the reference against sums computed by hand, the
// host's bits against the reference's.
#include <catch2/catch.hpp>
#include <numeric>

#include "core/error.hpp"
#include "resample_case.hpp"

using namespace sepconv;
using Catch::Contains;

namespace {

/// The normalised weights in f64.
std::vector<double> weights_of(const ResampleAxis& axis, std::int64_t i) {
  const ResampleWindow window = resample_window(axis, i);
  std::vector<double> weights;
  for (std::int64_t k = 0; k < window.count; ++k)
    weights.push_back(resample_weight(axis, i, window.first + k) / resample_sum(axis, i, window));
  return weights;
}

double sinc(double x) { return x == 0 ? 1 : std::sin(M_PI * x) / (M_PI * x); }

void check_host(const ResampleCase& c, Random& random, bool special = false) {
  const Arithmetic arithmetic = random() % 2 == 0 ? Arithmetic::f32 : Arithmetic::f64;
  const FramedImage in(c.in().extent(), c.channels, c.from);
  const FramedImage expected(c.out.extent(), c.channels, c.to);
  fill_random(in.view(), random, special);
  const ConstRegion source{in.view(), c.in(), c.input()};
  resample_reference(c.resampling, source, {expected.view(), c.out, c.result()}, arithmetic);
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    REQUIRE(simd_target() == target);
    const FramedImage actual(c.out.extent(), c.channels, c.to);
    // The declared scratch size: the worker throws if it is too small.
    Worker worker(Buffer(resample_scratch_bytes(c.resampling, c.out.extent(), c.channels, arithmetic)));
    resample_host(c.resampling, source, {actual.view(), c.out, c.result()}, arithmetic, worker);
    INFO(c.text() << " in " << name_of(arithmetic) << " on " << target);
    REQUIRE(worker.used_bytes() == 0);
    REQUIRE(same_pixels(expected, actual));
  }
}

}  // namespace

TEST_CASE("cells of a reduction: whole ones, and what is left at the end") {
  const ResampleAxis axis = reduced(11, 4, ResampleFilter::box);
  CHECK(axis.to == 3);
  CHECK(weights_of(axis, 0) == std::vector<double>(4, 0.25));
  CHECK(resample_window(axis, 1).first == 4);
  CHECK(resample_window(axis, 2).first == 8);
  CHECK(weights_of(axis, 2) == std::vector<double>(3, 1.0 / 3));
}

TEST_CASE("the binomial of a reduction: means of means of means, clipped and normalised at the edges") {
  const ResampleAxis twos = reduced(20, 2, ResampleFilter::binomial);
  CHECK(weights_of(twos, 3) == std::vector<double>{0.125, 0.375, 0.375, 0.125});
  CHECK(resample_window(twos, 3).first == 5);
  CHECK(resample_window(twos, 0).first == 0);
  CHECK(weights_of(twos, 0) == std::vector<double>{3.0 / 7, 3.0 / 7, 1.0 / 7});
  for (const std::int64_t cell : {2, 3, 5, 8, 40}) {
    std::vector<double> expected{1};
    for (int i = 0; i < 3; ++i) {  // convolved with a cell's box
      std::vector<double> next(expected.size() + static_cast<std::size_t>(cell) - 1);
      for (std::size_t k = 0; k < expected.size(); ++k) {
        for (std::size_t j = 0; j < static_cast<std::size_t>(cell); ++j) next[k + j] += expected[k];
      }
      expected = next;
    }
    const double cube = std::pow(static_cast<double>(cell), 3);
    for (double& value : expected) value /= cube;
    const ResampleAxis axis = reduced(10 * cell, cell, ResampleFilter::binomial);
    INFO(cell);
    CHECK(resample_window(axis, 4).first == 4 * cell - (cell - 1));
    CHECK(weights_of(axis, 4) == expected);
  }
}

TEST_CASE("weights are the filters' values at the pixels' centres") {
  const auto values = [](const ResampleAxis& axis, std::int64_t i, auto filter) {
    std::vector<double> expected;
    for (std::int64_t k = 0; k < resample_window(axis, i).count; ++k) {
      const double centre = (static_cast<double>(i) + 0.5) * axis.scale;
      const double pixel = static_cast<double>(resample_window(axis, i).first + k) + 0.5;
      expected.push_back(filter(std::abs(pixel - centre) / std::max(1.0, axis.scale)));
    }
    const double sum = std::accumulate(expected.begin(), expected.end(), 0.0);
    for (double& value : expected) value /= sum;
    return expected;
  };
  for (const std::int64_t to : {1, 7, 33, 64, 99, 300}) {
    for (std::int64_t i = 0; i < to; ++i) {
      INFO(i << " of " << to);
      const auto check_filter = [&](ResampleFilter filter, auto formula) {
        const ResampleAxis axis = resized(99, to, filter);
        const std::vector<double> actual = weights_of(axis, i);
        CHECK_THAT(actual, Catch::Approx(values(axis, i, formula)).margin(1e-15));
        CHECK(std::accumulate(actual.begin(), actual.end(), 0.0) == Approx(1).margin(1e-14));
      };
      check_filter(ResampleFilter::linear, [](double x) { return std::max(0.0, 1 - x); });
      check_filter(ResampleFilter::cubic, [](double x) {
        if (x < 1) return 1.5 * x * x * x - 2.5 * x * x + 1;
        return x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0.0;
      });
      check_filter(ResampleFilter::lanczos3, [](double x) { return x < 3 ? sinc(x) * sinc(x / 3) : 0.0; });
      check_filter(ResampleFilter::box, [](double) { return 1.0; });
    }
  }
}

TEST_CASE("area weighs pixels by their share, and all shares of a pixel are 1") {
  Random random(32);
  for (int n = 0; n < 200; ++n) {
    const std::int64_t from = random_between(random, 1, 400);
    const ResampleAxis axis = resized(from, random_between(random, 1, 900), ResampleFilter::area);
    if (axis.is_identity()) continue;
    INFO(axis.from << " to " << axis.to);
    std::vector<double> weight_sums(static_cast<std::size_t>(from));
    for (std::int64_t i = 0; i < axis.to; ++i) {
      const auto [first, count] = resample_window(axis, i);
      // Edges are at multiples of 1 / to: rounding errors must not add a pixel.
      REQUIRE(first == i * axis.from / axis.to);
      REQUIRE(first + count == ceil_div((i + 1) * axis.from, axis.to));
      for (std::int64_t k = 0; k < count; ++k)
        weight_sums[static_cast<std::size_t>(first + k)] += resample_weight(axis, i, first + k);
      CHECK(resample_sum(axis, i, {first, count}) == Approx(axis.scale));
    }
    for (const double weight_sum : weight_sums) CHECK(weight_sum == Approx(1));
  }
}

TEST_CASE("every pixel counts to one cell of a box, and windows advance with the pixels") {
  Random random(31);
  for (int n = 0; n < 200; ++n) {
    const std::int64_t from = random_between(random, 1, 400);
    const ResampleAxis box = resized(from, random_between(random, 1, from), ResampleFilter::box);
    std::int64_t next = 0;
    for (std::int64_t i = 0; i < box.to && !box.is_identity(); ++i) {
      INFO(box.from << " to " << box.to << ", " << i);
      REQUIRE(resample_window(box, i).first == next);
      next += resample_window(box, i).count;
    }
    if (!box.is_identity()) CHECK(next == from);
    const ResampleAxis axis = random_axis(random, from, random_between(random, 1, 900));
    for (std::int64_t i = 0; i + 1 < axis.to; ++i) {
      const auto [first, count] = resample_window(axis, i);
      const auto [next_first, next_count] = resample_window(axis, i + 1);
      REQUIRE((first <= next_first && first + count <= next_first + next_count &&
               next_first + next_count <= from));
      REQUIRE(count <= resample_max_taps(axis));
    }
  }
}

TEST_CASE("means of cells, ascending sums, one rounding") {
  const std::uint8_t in[] = {1, 2, 3, 4, 10,  //
                             5, 6, 7, 8, 21,  //
                             0, 1, 2, 2, 255};
  std::uint8_t out[6];
  const Resampling halves{reduced(3, 2, ResampleFilter::box), reduced(5, 2, ResampleFilter::box)};
  resample_reference(halves, ConstRegion::whole(view_of(in, {3, 5})), Region::whole(view_of(out, {2, 3})),
                     Arithmetic::f32);
  // 3.5, 5.5, 15.5 and 0.5 are rounded half to even.
  CHECK(std::vector<int>(out, out + 6) == std::vector<int>{4, 6, 16, 0, 2, 255});
  // Above 2^24 only every second integer is an f32: terms of 3/4 are lost if each is added after the large
  // one.
  const float big_first[] = {67108864, 3, 3, 3}, big_last[] = {3, 3, 3, 67108864};
  float sum = 0;
  const auto mean = [&](const float* values) {
    resample_reference({resized(1, 1, ResampleFilter::box), reduced(4, 4, ResampleFilter::box)},
                       ConstRegion::whole(view_of(values, {1, 4})), Region::whole(view_of(&sum, {1, 1})),
                       Arithmetic::f32);
    return sum;
  };
  CHECK(mean(big_first) == 16777216);
  CHECK(mean(big_last) == 16777218);
}

TEST_CASE("a side that keeps its length is left alone, -0 and NaN too") {
  const float in[] = {-0.0f, std::numeric_limits<float>::quiet_NaN(), 3,
                      std::numeric_limits<float>::infinity()};
  float out[4] = {};
  const ResampleAxis kept = resized(2, 2, ResampleFilter::lanczos3);
  Worker worker(Buffer(resample_scratch_bytes({kept, kept}, {2, 2}, 1, Arithmetic::f32)));
  resample_host({kept, kept}, ConstRegion::whole(view_of(in, {2, 2})), Region::whole(view_of(out, {2, 2})),
                Arithmetic::f32, worker);
  CHECK(std::memcmp(in, out, sizeof(in)) == 0);
}

TEST_CASE("resample_host has the reference's bits: sizes around its groups, every filter") {
  Random random(32);
  const std::int64_t sides[] = {1, 2, 3, 15, 16, 17, 31, 33, 64, 97};
  for (const std::int64_t rows : sides) {
    for (const std::int64_t cols : sides)
      check_host(random_resampling(random, {rows, cols},
                                   {random_choice(random, sides), random_choice(random, sides)}),
                 random);
  }
}

TEST_CASE("resample_host has the reference's bits: every type, special values, much smaller and larger") {
  Random random(33);
  for (int i = 0; i < 100; ++i) {
    const Extent from{random_between(random, 1, 60), random_between(random, 1, 60)};
    check_host(
        random_resampling(random, from, {random_between(random, 1, 150), random_between(random, 1, 150)}),
        random, i % 2 == 0);
  }
  check_host(random_resampling(random, {700, 900}, {3, 2}), random);
  check_host(random_resampling(random, {3, 2}, {300, 400}), random);
}

TEST_CASE("resample_host has the reference's bits: to cells, with every border, and back") {
  Random random(39);
  for (int i = 0; i < 300; ++i)
    check_host(random_gaussian(random, {random_between(random, 1, 90), random_between(random, 1, 700)}),
               random, i % 4 == 0);
}

TEST_CASE("a Gaussian of cells: its weights, and the part of a side that they are computed for") {
  const ResampleAxis whole{.from = 1000,
                           .to = 40,
                           .scale = 10,
                           .filter = ResampleFilter::gaussian,
                           .cells = {.sigma = 9, .side = 10, .first_pixel = 0, .first_cell = -3}};
  ResampleAxis part = whole;
  part.cells.first_pixel = 123, part.cells.first_cell = 7;
  const ResampleWindow window = resample_window(whole, 20), other = resample_window(part, 10);
  CHECK(window.first == other.first + 123);
  CHECK(window.count == other.count);
  CHECK(window.count == 82);  // cell 17 from 170 to 180: half pixels from 134.5 to 215.5
  CHECK(window.first == 134);
  const std::vector<double> weights = weights_of(whole, 20);
  CHECK(weights == weights_of(part, 10));
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double distance = static_cast<double>(k) + 134.5 - 175;
    CHECK(weights[k] / weights[40] == Approx(std::exp(-(distance * distance - 0.25) / 162)).epsilon(1e-12));
  }
}

TEST_CASE("resample_host has the reference's bits: pairs of any row, vectors of them and what is left") {
  Random random(35);
  for (int i = 0; i < 160; ++i) {
    ResampleCase c = random_resampling(random, {random_between(random, 1, 40), i + 1}, {3, 3});
    c.resampling.across = reduced(i + 1, 2, ResampleFilter::box);
    c.channels = i % 5 + 1;
    const std::int64_t cols = c.result().cols;
    c.out.col = std::min(c.out.col, (cols - 1) / 2);
    c.out.cols = random_between(random, 1, cols - c.out.col);
    check_host(c, random, i % 3 == 0);
  }
}

TEST_CASE("resample_host has the reference's bits: means of 2 x 2 integers stored as such") {
  Random random(36);
  constexpr PixelType integers[] = {PixelType::u8, PixelType::u16, PixelType::i16};
  for (int i = 0; i < 300; ++i) {
    const std::int64_t rows = random_between(random, 1, 9), cols = random_between(random, 1, 300);
    ResampleCase c = random_resampling(random, {rows, cols}, {1, 1});
    c.resampling.down = reduced(rows, 2, ResampleFilter::box);
    c.resampling.across = reduced(cols, 2, ResampleFilter::box);
    c.channels = i % 5 + 1;
    c.from = c.to = integers[i % 3];
    const Extent whole = c.result();
    c.out.row = random_between(random, 0, whole.rows - 1);
    c.out.col = random_between(random, 0, whole.cols - 1) / 2;
    c.out.rows = random_between(random, 1, whole.rows - c.out.row);
    c.out.cols = random_between(random, 1, whole.cols - c.out.col);
    check_host(c, random);
  }
}

TEST_CASE("columns first are the bits of the transposed image") {
  Random random(34);
  const Resampling rows_first{resized(41, 17, ResampleFilter::cubic),
                              resized(23, 60, ResampleFilter::lanczos3)};
  const Resampling columns_first{rows_first.across, rows_first.down, true};
  Image in({41, 23}, 1, PixelType::f32), transposed({23, 41}, 1, PixelType::f32);
  Image out({17, 60}, 1, PixelType::f32), transposed_out({60, 17}, 1, PixelType::f32);
  fill_random(in.view, random);
  const auto transpose = [](const PixelView& from, const PixelView& to) {
    for (std::int64_t row = 0; row < from.extent.rows; ++row) {
      for (std::int64_t col = 0; col < from.extent.cols; ++col)
        to.row<float>(col)[row] = from.row<float>(row)[col];
    }
  };
  transpose(in.view, transposed.view);
  resample_reference(rows_first, Region::whole(in.view), Region::whole(out.view), Arithmetic::f32);
  resample_reference(columns_first, Region::whole(transposed.view), Region::whole(transposed_out.view),
                     Arithmetic::f32);
  Image back({17, 60}, 1, PixelType::f32);
  transpose(transposed_out.view, back.view);
  CHECK(differing_elements(out.view, back.view) == 0);
}

TEST_CASE("resampling refuses regions that do not fit, and names them") {
  Image in({8, 9}, 1, PixelType::f32), out({4, 5}, 1, PixelType::f32), two({4, 5}, 2, PixelType::f32);
  const Resampling halves{reduced(8, 2, ResampleFilter::box), reduced(9, 2, ResampleFilter::box)};
  const auto resample = [&](const ConstRegion& from, const Region& to) {
    resample_reference(halves, from, to, Arithmetic::f32);
  };
  Random random(35);
  fill_random(in.view, random);
  CHECK_NOTHROW(resample(Region::whole(in.view), Region::whole(out.view)));
  CHECK_THROWS_WITH(resample(Region::whole(in.view), Region::whole(two.view)), Contains("with 1 channels"));
  CHECK_THROWS_AS(resample(Region::whole(out.view), Region::whole(out.view)), InvalidArgument);
  const ConstRegion part = ConstRegion::whole(in.view).crop({0, 0, 7, 9});
  CHECK_THROWS_WITH(resample(part, Region::whole(out.view)), Contains("needs the input's rows 0..8"));
}
