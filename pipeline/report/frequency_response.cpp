#include "pipeline/report/frequency_response.hpp"

#include <algorithm>
#include <cmath>
#include <ranges>

#include "core/error.hpp"
#include "pipeline/run/apply.hpp"

namespace sepconv {
namespace {

constexpr std::int64_t kMaxReach = 512;
constexpr std::int64_t kSide = std::int64_t{1} << 20;  // of an image whose edges are out of reach of kMiddle
constexpr ImageSpec kImage{{kSide, kSide}, 1, PixelType::f64};
constexpr Rect kMiddle{kSide / 2, kSide / 2, 1, 1};

bool preserves_geometry(const Stage& stage) {
  const PrimitiveTraits& traits = stage.traits();
  const StageProperties& properties = stage.properties();
  return !traits.is_permutation() && !traits.changes_size && !properties.mixes_channels &&
         properties.product == Product::none && !traits.alpha;
}

Chain without_casts(const Chain& chain) {
  Chain filters;
  for (const StagePtr& stage : chain.stages()) {
    if (!stage->text().starts_with("cast:")) filters.then(stage);
  }
  return filters;
}

/// The radius of the chain's input, including the maximum that it may need at other positions.
Extent reach_of(const Chain& chain) {
  const Rect needed = chain.input_for(kMiddle, kImage);
  Extent max_input = kMiddle.extent();
  for (const StagePtr& stage : std::views::reverse(chain.stages()))
    max_input = stage->max_input_extent(max_input, kImage);
  const auto reach = [](std::int64_t before, std::int64_t after, std::int64_t elsewhere) {
    return std::max(before, after) + std::max<std::int64_t>(elsewhere, 0);
  };
  return {
      reach(kMiddle.row - needed.row, needed.row_end() - kMiddle.row_end(), max_input.rows - needed.rows),
      reach(kMiddle.col - needed.col, needed.col_end() - kMiddle.col_end(), max_input.cols - needed.cols)};
}

/// The chain's response to a line of value `height` on zeros. The image is only as large as the chain's
/// reach, because planning takes time proportional to it.
std::vector<double> across_line(const Chain& chain, Extent reach, bool along_x, double height) {
  const Extent margin = along_x ? Extent{0, reach.cols} : Extent{reach.rows, 0};
  const Extent image{4 * reach.rows + 1, 4 * reach.cols + 1};
  const Rect middle{image.rows / 2, image.cols / 2, 1, 1};
  const Rect out = middle.grown(margin.rows, margin.cols);
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

/// The response to a line of height 1; empty if the response is not proportional to the height.
std::vector<double> taps_along(const Chain& chain, Extent reach, bool along_x) {
  constexpr double kHigh = 1000, kLow = -3;
  const std::vector<double> zero_response = across_line(chain, reach, along_x, 0);
  std::vector<double> taps = across_line(chain, reach, along_x, kHigh);
  const std::vector<double> low_response = across_line(chain, reach, along_x, kLow);
  double max_tap = 0, max_difference = 0;
  for (std::size_t i = 0; i < taps.size(); ++i) {
    taps[i] = (taps[i] - zero_response[i]) / kHigh;
    max_tap = std::max(max_tap, std::abs(taps[i]));
    max_difference =
        std::max(max_difference, std::abs(taps[i] - (low_response[i] - zero_response[i]) / kLow));
  }
  if (!(max_difference <= 1e-9 * max_tap)) taps.clear();
  return taps;
}

ChainResponse unavailable(std::string reason) { return {std::move(reason), {}, {}}; }

}  // namespace

bool ChainResponse::is_isotropic() const {
  return std::ranges::equal(along_x, along_y,
                            [](double a, double b) { return std::abs(a - b) < 1e-12 * (1 + std::abs(a)); });
}

ChainResponse response_of(const Chain& chain) try {
  const Chain filters = without_casts(chain);
  if (filters.empty()) return unavailable("The chain filters nothing.");
  for (const StagePtr& stage : filters.stages()) {
    if (!preserves_geometry(*stage))
      return unavailable("There is no frequency response of " + stage->text() +
                         ": it moves pixels, mixes channels or changes the size.");
  }
  const Extent reach = reach_of(filters);
  if (std::max(reach.rows, reach.cols) > kMaxReach)
    return unavailable("The taps reach further than 512 pixels and are not drawn.");
  ChainResponse response;
  for (const bool along_x : {true, false}) {
    std::vector<double>& taps = along_x ? response.along_x : response.along_y;
    taps = taps_along(filters, reach, along_x);
    if (taps.empty())
      return unavailable(
          "The chain is not linear (its result is not proportional to its input), so it has no "
          "frequency response.");
  }
  return response;
} catch (const Error& error) {
  return unavailable(std::string("The response could not be computed: ") + error.what() + ".");
}

}  // namespace sepconv
