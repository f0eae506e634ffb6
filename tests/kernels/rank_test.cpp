// Rank filters: the reference against known results, the host's bits against the reference's, and sorting
// networks against sorted values.
#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "core/error.hpp"
#include "kernels/rank/rank_block.hpp"
#include "kernels/rank/sorting_network.hpp"
#include "rank_case.hpp"

using namespace sepconv;
using Catch::Contains;

namespace {

void check_host(const RankCase& c, Random& random) {
  const Arithmetic arithmetic = random() % 2 == 0 ? Arithmetic::f32 : Arithmetic::f64;
  std::vector<FramedImage> in;
  std::vector<ConstRegion> planes;
  for (std::int64_t i = 0; i < c.filter.window.planes(); ++i) {
    fill_ranked(in.emplace_back(c.in().extent(), c.channels, c.from).view(), random, c.missing);
    const bool is_absent =
        c.border.mode == BorderMode::constant && i != c.filter.window.front && random() % 3 == 0;
    planes.push_back(is_absent ? ConstRegion{} : ConstRegion{in.back().view(), c.in(), c.image});
  }
  const FramedImage expected(c.out.extent(), c.channels, c.to);
  rank_reference(c.filter, c.border, planes, {expected.view(), c.out, c.image}, arithmetic);
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    const FramedImage actual(c.out.extent(), c.channels, c.to);
    // The declared scratch size: the worker throws if it is too small.
    Worker worker(Buffer(rank_scratch_bytes(c.filter, c.out.extent(), c.channels, arithmetic)));
    rank_host(c.filter, c.border, planes, {actual.view(), c.out, c.image}, arithmetic, worker);
    INFO(c.text() << " in " << name_of(arithmetic) << " on " << target);
    REQUIRE(worker.used_bytes() == 0);
    REQUIRE(same_pixels(expected, actual));
  }
}

template <class T>
std::vector<T> reference_of(const std::vector<T>& row, const RankFilter& filter, Border border = {}) {
  std::vector<T> ranked(row.size());
  const Extent extent{1, static_cast<std::int64_t>(row.size())};
  rank_reference(filter, border, ConstRegion::whole(view_of(row.data(), extent)),
                 Region::whole(view_of(ranked.data(), extent)), Arithmetic::f32);
  return ranked;
}

/// The result of a network for one pixel's window, given row by row.
double ranked_by(const SortingNetwork& network, const std::vector<double>& window) {
  const auto rows = network.rows(), cols = network.cols();
  std::vector<std::vector<double>> slots(static_cast<std::size_t>(network.slots()),
                                         std::vector<double>(static_cast<std::size_t>(cols)));
  for (std::int64_t row = 0; row < rows; ++row)
    std::copy_n(window.begin() + row * cols, cols, slots[static_cast<std::size_t>(row)].begin());
  const auto at = [&](const ShiftedSlot& value, std::int64_t i) {
    return slots.at(static_cast<std::size_t>(value.slot)).at(static_cast<std::size_t>(value.shift + i));
  };
  for (const SortingNetwork::Comparison& comparison : network.comparisons()) {
    for (std::int64_t i = 0; i <= comparison.more; ++i) {
      const auto [low, high] = std::minmax({at(comparison.a, i), at(comparison.b, i)});
      if (comparison.low >= 0)
        slots.at(static_cast<std::size_t>(comparison.low)).at(static_cast<std::size_t>(i)) = low;
      if (comparison.high >= 0)
        slots.at(static_cast<std::size_t>(comparison.high)).at(static_cast<std::size_t>(i)) = high;
    }
  }
  double min_value = std::numeric_limits<double>::infinity();
  for (const SortingNetwork::Term& term : network.terms())
    min_value = std::min(min_value, std::max(at(term.a, 0), at(term.b, 0)));
  return min_value;
}

}  // namespace

TEST_CASE("the middle of three, and what a zero is", "[order]") {
  const RankFilter median_of_3({1, 1, 0, 0}, 1, RankMissing::propagate);
  CHECK(reference_of<std::uint8_t>({5, 1, 9, 4, 4}, median_of_3) == std::vector<std::uint8_t>{1, 5, 4, 4, 4});
  CHECK(reference_of<std::uint8_t>({5, 1, 9, 4, 4}, median_of_3, {BorderMode::constant, 0}) ==
        std::vector<std::uint8_t>{1, 5, 4, 4, 4});
  const std::vector<float> zeros = reference_of<float>({-0.0F, -0.0F, -0.0F}, median_of_3);
  CHECK(std::ranges::none_of(zeros, [](float zero) { return std::signbit(zero); }));
}

TEST_CASE("ranks of the valid pixels are scaled in proportion", "[order]") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto ranked = [&](RankMissing missing, std::int64_t rank) {
    std::string text;
    for (const float value : reference_of<float>(
             {nan, 1, 2, nan, nan, nan, 9}, RankFilter({1, 1, 0, 0}, rank, missing), {BorderMode::replicate}))
      text += std::isnan(value) ? "-" : std::to_string(static_cast<int>(value));
    return text;
  };
  CHECK(ranked(RankMissing::propagate, 1) == "-------");
  CHECK(ranked(RankMissing::ignore, 1) == "-22---9");
  CHECK(ranked(RankMissing::fill, 1) == "1222-99");
  CHECK(ranked(RankMissing::fill, 0) == "1112-99");
  const RankFilter filter({2, 2, 2, 2}, 24, RankMissing::ignore);
  for (std::int64_t valid = 1; valid <= 25; ++valid) CHECK(filter.rank_of(valid) == valid - 1);
}

TEST_CASE("a network finds the rank of any window, also of zeros and ones", "[order]") {
  // Zero-one principle: a comparison network that is correct for zeros and ones is correct.
  Random random(3);
  for (std::int64_t rows = 1; rows <= 7; ++rows) {
    for (std::int64_t cols = 1; cols <= 7; ++cols) {
      const std::int64_t area = rows * cols;
      for (const std::int64_t rank : std::set<std::int64_t>{0, area / 4, area / 2, area - 1}) {
        const SortingNetwork network(rows, cols, rank);
        for (int i = 0; i < 60; ++i) {
          std::vector<double> window(static_cast<std::size_t>(area));
          const std::int64_t ones = std::clamp<std::int64_t>(area - rank + i % 2 - 1, 0, area);
          std::fill_n(window.begin(), ones, 1);
          std::ranges::shuffle(window, random);
          INFO(rows << " x " << cols << ", rank " << rank);
          REQUIRE(ranked_by(network, window) == (rank >= area - ones ? 1 : 0));
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("medians of 3 x 3 and 5 x 5 of any number of ones in each column", "[order]", std::uint8_t,
                   std::uint16_t, float, double) {
  // For networks that sort the columns first (tested above), these are all inputs of the zero-one principle.
  const std::int64_t side = GENERATE(3, 5);
  std::int64_t windows = 1;
  for (std::int64_t col = 0; col < side; ++col) windows *= side + 1;
  const Extent extent{side, side * windows};
  std::vector<TestType> pixels(static_cast<std::size_t>(extent.rows * extent.cols)), ranked(pixels.size());
  std::vector<std::int64_t> ones(static_cast<std::size_t>(windows));
  for (std::int64_t col = 0; col < extent.cols; ++col) {
    std::int64_t digits = col / side;
    for (std::int64_t i = 0; i < col % side; ++i) digits /= side + 1;
    for (std::int64_t row = 0; row < digits % (side + 1); ++row)
      pixels[static_cast<std::size_t>((row + col) % side * extent.cols + col)] = 1;
    ones[static_cast<std::size_t>(col / side)] += digits % (side + 1);
  }
  const std::int64_t radius = side / 2;
  const RankFilter median({radius, radius, radius, radius}, side * side / 2, RankMissing::propagate);
  for (const std::string& target : simd_targets()) {
    const ForcedTarget forced(target);
    Worker worker(Buffer(rank_scratch_bytes(median, extent, 1, Arithmetic::f64)));
    rank_host(median, {}, ConstRegion::whole(view_of(pixels.data(), extent)),
              Region::whole(view_of(ranked.data(), extent)), Arithmetic::f64, worker);
    for (std::int64_t window = 0; window < windows; ++window) {
      const std::int64_t at = radius * extent.cols + window * side + radius;
      if ((ranked[static_cast<std::size_t>(at)] == 1) !=
          (2 * ones[static_cast<std::size_t>(window)] > side * side))
        FAIL("window " << window << " of side " << side << " on " << target);
    }
  }
}

TEST_CASE("medians of small windows and a NaN in the last rows of a block: the block is recomputed",
          "[order]") {
  for (const std::int64_t radius : {1, 2}) {
    for (const RankMissing missing : {RankMissing::propagate, RankMissing::ignore, RankMissing::fill}) {
      const Extent extent{70, 150};
      std::vector<float> pixels(static_cast<std::size_t>(extent.rows * extent.cols)), ranked(pixels),
          reference(pixels);
      for (std::size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 7919 % 1013);
      pixels[static_cast<std::size_t>(31 * extent.cols + 149)] = std::numeric_limits<float>::quiet_NaN();
      const RankFilter median({radius, radius, radius, radius}, (2 * radius + 1) * (2 * radius + 1) / 2,
                              missing);
      const ConstRegion in = ConstRegion::whole(view_of(pixels.data(), extent));
      rank_reference(median, {}, in, Region::whole(view_of(reference.data(), extent)), Arithmetic::f32);
      Worker worker(Buffer(rank_scratch_bytes(median, extent, 1, Arithmetic::f32)));
      rank_host(median, {}, in, Region::whole(view_of(ranked.data(), extent)), Arithmetic::f32, worker);
      CHECK(std::ranges::equal(ranked, reference,
                               [](float a, float b) { return a == b || (a != a && b != b); }));
    }
  }
}

TEST_CASE("the host's order statistics are the reference's, bit for bit", "[order]") {
  Random random(11);
  for (int i = 0; i < 150; ++i) check_host(random_rank(random, {40, 60}, 4), random);
}

TEST_CASE("the same for windows larger than the image, and blocks cut in several", "[order]") {
  Random random(12);
  for (int i = 0; i < 6; ++i) check_host(random_rank(random, {20, 30}, 25), random);
  for (int i = 0; i < 4; ++i) {
    RankCase c = random_rank(random, {1, 1}, 2);
    const std::int64_t wide = RankLayout::wide(c.filter.window);
    c.image = {RankTuning::kBlockRows / wide + 2, 2 * wide * RankTuning::kBlockElements / c.channels + 3};
    c.out = Rect::whole(c.image);
    check_host(c, random);
  }
}

TEST_CASE("the same for windows over several planes, and images that repeat", "[order]") {
  Random random(13);
  for (int i = 0; i < 150; ++i) check_host(random_volume_rank(random, {40, 60}, 3), random);
  for (int i = 0; i < 6; ++i) check_host(random_volume_rank(random, {20, 30}, 9), random);
  RankCase c = random_volume_rank(random, {1, 1}, 2);
  c.image = {RankTuning::kBlockRows + 2, 2 * RankTuning::kBlockElements / c.channels + 3};
  c.out = Rect::whole(c.image);
  check_host(c, random);
}

TEST_CASE("a window over planes ranks the values of all", "[order]") {
  const std::uint8_t values[][3] = {{9, 9, 1}, {2, 3, 4}};
  std::vector<ConstRegion> planes(3);  // the first plane is beyond the volume
  for (std::size_t i = 0; i < 2; ++i) planes[i + 1] = ConstRegion::whole(view_of(values[i], {1, 3}));
  const auto ranked = [&](std::int64_t rank) {
    std::vector<std::uint8_t> row(3);
    rank_reference(RankFilter({0, 0, 0, 0, 1, 1}, rank, RankMissing::propagate), {BorderMode::constant, 5},
                   planes, Region::whole(view_of(row.data(), {1, 3})), Arithmetic::f32);
    return row;
  };
  CHECK(ranked(0) == std::vector<std::uint8_t>{2, 3, 1});
  CHECK(ranked(1) == std::vector<std::uint8_t>{5, 5, 4});
  CHECK(ranked(2) == std::vector<std::uint8_t>{9, 9, 5});
}

TEST_CASE("windows that cannot be, and regions that do not fit, are refused", "[order]") {
  CHECK_THROWS_WITH(RankFilter({1, 1, 1, 1}, 9, RankMissing::ignore), Contains("rank 9 is not one of 9"));
  CHECK_THROWS_AS(RankFilter({-1, 1, 1, 1}, 0, RankMissing::ignore), InvalidArgument);
  CHECK_THROWS_AS(RankFilter({2048, 2048, 0, 0}, 0, RankMissing::ignore), InvalidArgument);
  CHECK_NOTHROW(RankFilter({2048, 0, 0, 0}, 0, RankMissing::ignore));
  CHECK_THROWS_WITH(
      RankFilter({1024, 1024, 1024, 1024, 0, 1}, 0, RankMissing::ignore),
      Contains("2049 x 2049 x 2 pixels is empty, or larger than 2049 on a side or 4198401 in all"));
  CHECK_THROWS_AS(RankFilter({0, 0, 0, 0, 2048, 1}, 0, RankMissing::ignore), InvalidArgument);
  const Image in({5, 5}, 1, PixelType::u8), out({5, 5}, 1, PixelType::u8);
  const RankFilter filter({1, 1, 1, 1}, 4, RankMissing::propagate);
  Worker worker;
  CHECK_THROWS_AS(rank_host(filter, {}, {in.view, {0, 0, 5, 5}, {9, 9}}, {out.view, {0, 0, 5, 5}, {9, 9}},
                            Arithmetic::f32, worker),
                  InvalidArgument);
  CHECK_THROWS_WITH(rank_host(filter, {BorderMode::wrap}, {in.view, {0, 0, 5, 5}, {9, 9}},
                              {out.view, {0, 0, 5, 5}, {9, 9}}, Arithmetic::f32, worker),
                    Contains("needs the input's rows -1..6"));
  CHECK_THROWS_WITH(
      rank_host(RankFilter({1, 1, 1, 1, 1, 0}, 4, RankMissing::propagate), {},
                ConstRegion::whole(ConstPixelView(in.view)), Region::whole(out.view), Arithmetic::f32,
                worker),
      Contains("a rank of 2 planes needs the same number of planes of one type but was given 1"));
}
