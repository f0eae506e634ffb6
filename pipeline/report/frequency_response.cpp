#include "pipeline/report/frequency_response.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <ranges>

#include "core/error.hpp"
#include "pipeline/run/apply.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kFarthest = 512;
constexpr std::int64_t kSide = std::int64_t{1} << 20;  // of an image whose edges are out of reach
constexpr ImageSpec kImage{{kSide, kSide}, 1, PixelType::f64};
constexpr Rect kMiddle{kSide / 2, kSide / 2, 1, 1};

bool keeps_places(const Stage& stage) {
  const StageTraits& traits = stage.traits();
  return !traits.is_permutation && !traits.is_transpose && !traits.scales && !traits.mixes_channels &&
         traits.product == Product::none && !traits.alpha;
}

Chain without_casts(const Chain& chain) {
  Chain others;
  for (const StagePtr& stage : chain.stages()) {
    if (!stage->text().starts_with("cast:")) others.then(stage);
  }
  return others;
}

/// How far the chain looks in any direction, and as much further as it may elsewhere than at this place.
Extent reach_of(const Chain& chain) {
  const Rect needed = chain.input_for(kMiddle, kImage);
  Extent most = kMiddle.extent();
  for (const StagePtr& stage : std::views::reverse(chain.stages()))
    most = stage->max_input_extent(most, kImage);
  const auto reach = [](std::int64_t before, std::int64_t behind, std::int64_t elsewhere) {
    return std::max(before, behind) + std::max<std::int64_t>(elsewhere, 0);
  };
  return {reach(kMiddle.row - needed.row, needed.row_end() - kMiddle.row_end(), most.rows - needed.rows),
          reach(kMiddle.col - needed.col, needed.col_end() - kMiddle.col_end(), most.cols - needed.cols)};
}

/// The chain's result across a line of this height, and nothing elsewhere. Of an image that ends where the
/// chain no longer looks: a plan of more looks at each of its places.
std::vector<double> across_line(const Chain& chain, Extent reach, bool along_x, double height) {
  const Extent kept = along_x ? Extent{0, reach.cols} : Extent{reach.rows, 0};
  const Extent image{4 * reach.rows + 1, 4 * reach.cols + 1};
  const Rect middle{image.rows / 2, image.cols / 2, 1, 1};
  const Rect out = middle.grown(kept.rows, kept.cols);
  const Rect in = out.grown(reach.rows, reach.cols);
  std::vector<double> source(static_cast<std::size_t>(in.area())),
      result(static_cast<std::size_t>(out.area()));
  for (std::int64_t i = 0; i < in.area(); ++i) {
    const bool on_line = along_x ? in.col + i % in.cols == middle.col : in.row + i / in.cols == middle.row;
    if (on_line) source[static_cast<std::size_t>(i)] = height;
  }
  apply(chain, ConstRegion{view_of(source.data(), in.extent()), in, image},
        Region{view_of(result.data(), out.extent()), out, image}, {.threads = 1});
  return result;
}

/// Empty where what becomes of a line is not in proportion to its height.
std::vector<double> taps_along(const Chain& chain, Extent reach, bool along_x) {
  constexpr double kHigh = 1000, kLow = -3;
  const std::vector<double> none = across_line(chain, reach, along_x, 0);
  std::vector<double> taps = across_line(chain, reach, along_x, kHigh);
  const std::vector<double> low = across_line(chain, reach, along_x, kLow);
  double most = 0, apart = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    taps[i] = (taps[i] - none[i]) / kHigh;
    most = std::max(most, std::abs(taps[i]));
    apart = std::max(apart, std::abs(taps[i] - (low[i] - none[i]) / kLow));
  }
  if (!(apart <= 1e-9 * most)) taps.clear();
  return taps;
}

std::vector<double> magnitudes_of(const std::vector<double>& taps) {
  constexpr int kFrequencies = 129;
  std::vector<double> magnitudes;
  for (int i = 0; i < kFrequencies; ++i) {
    const double turn = std::numbers::pi * i / (kFrequencies - 1);  // radians a pixel, up to half a cycle
    std::complex<double> sum = 0;
    for (std::size_t k = 0; k < taps.size(); ++k)
      sum += taps[k] * std::polar(1.0, -turn * static_cast<double>(k));
    magnitudes.push_back(std::abs(sum));
  }
  return magnitudes;
}

ChainResponse none_because(std::string why) { return {std::move(why), {}, {}}; }

}  // namespace

bool ChainResponse::same_along_both() const {
  return std::ranges::equal(along_x.taps, along_y.taps,
                            [](double a, double b) { return std::abs(a - b) < 1e-12 * (1 + std::abs(a)); });
}

ChainResponse response_of(const Chain& chain) try {
  const Chain filters = without_casts(chain);
  if (filters.empty()) return none_because("The chain filters nothing.");
  for (const StagePtr& stage : filters.stages()) {
    if (!keeps_places(*stage))
      return none_because("There is no frequency response of " + stage->text() +
                          ": it moves pixels, mixes channels or makes another size.");
  }
  const Extent reach = reach_of(filters);
  if (std::max(reach.rows, reach.cols) > kFarthest)
    return none_because("The taps reach further than 512 pixels and are not drawn.");
  ChainResponse response;
  for (const bool along_x : {true, false}) {
    LineResponse& line = along_x ? response.along_x : response.along_y;
    line.taps = taps_along(filters, reach, along_x);
    if (line.taps.empty())
      return none_because(
          "The chain is not linear (its result is not in proportion to what it is given), so it has no "
          "frequency response.");
    line.magnitudes = magnitudes_of(line.taps);
  }
  return response;
} catch (const Error& error) {
  return none_because(std::string("The response could not be computed: ") + error.what() + ".");
}

}  // namespace sepconv
